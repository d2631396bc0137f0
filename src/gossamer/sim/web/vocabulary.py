"""The vocabulary of the synthetic web. Changing a word changes every web: seeds then name other pages than before."""

__all__ = ["ADJECTIVES", "ADVERBS", "DETERMINERS", "NOUNS", "PREPOSITIONS", "VERBS"]

NOUNS = """
acorn aisle almond amber anchor anvil apron arcade archive armour atlas attic autumn bakery balcony ballad bamboo banner barley
barn barrel basin basket battery beacon bean bell bench berry birch blanket blossom board boat bonfire border bottle boulder
branch brass bread brick bridge brook broom bucket buckle builder bundle button cabin cable cactus candle canvas canyon captain
carbon cargo carpet castle cedar cellar chain chalk chapel chart cherry chimney choir cider circle clay cliff clock cloud clover
coast cobbler column comet compass copper coral corner cotton county courier courtyard cradle crane crater creek crown crystal
curtain cushion cypress dairy dancer desert diary doorway dragon drawer drum dune eagle easel echo elm ember engine estuary
fabric falcon farmer feather fence ferry fiddle field finch flag flame flask fleet flint flower flute forest forge fountain fox
frame frost furnace gallery garden garlic garment gate geyser ginger glacier glass glove goose granite grape gravel grove guitar
gull gully hammer hammock harbour harvest hatch hazel heather hedge helmet heron hill hinge honey horizon hut inlet iris iron
island ivory ivy jacket jar jetty journal juniper kettle key kiln kitchen kite ladder lagoon lake lamp lantern lark lattice
laurel leaf ledger lemon lens library lichen lighthouse lily linen lizard lobby locket loom lumber lute magnet mallet mantle
maple marble market marsh mast meadow melon merchant mill mirror mitten monastery moon moss mountain museum nail needle nest
night oak oar oasis ocean olive onion orchard orchid otter oven owl oyster paddle painter palace paper parade parcel path pear
pebble pepper piano pillar pine pitcher plateau plough plum pond poplar porch potter prairie quarry quartz quill
"""
ADJECTIVES = """
able absent active actual agile airy alert ample ancient arctic arid ashen autumnal average awake aware bare basic bitter bland
blank blond blue blunt bold brave brief bright brisk broad broken bronze brown bulky busy calm candid careful cautious central
cheap cheerful chief chilly civic civil clean clear clever close coarse coastal cold common complete compact constant cool
coppery cosy crisp crooked crude curious curly current curved daily damp dark dear decent deep delicate dense distant double
dry dull dusty eager early earnest eastern easy elder elegant empty endless equal even exact extra fabled faint fair familiar
famous fancy fast fertile few fierce final fine firm first fit fixed flat fluent foamy foggy folded foreign formal fourth
fragile free frequent fresh friendly frosty full funny gentle giant gifted glad gleaming global glossy golden good graceful grand
grassy great green grey hardy harsh hasty hazy heavy helpful hidden high hollow honest hot huge humble humid icy ideal idle
inland inner jagged jolly keen kind large last late leafy lean level light lively local lofty lonely long loose loud loyal
lucky lunar main major mellow merry mild minor misty modern modest moist muddy mute narrow native near neat new nimble noble
noisy northern novel odd old open orange outer oval pale partial patient peaceful petty plain pleasant polar polite poor
portable precise pretty prime private prompt proper proud public pure purple quaint quick quiet rapid rare ready real recent
red regal remote rich rigid ripe robust rocky rough round royal rural rustic sandy scarce second secret separate serene
"""
VERBS = """
admire answer approach borrow brighten build carry chase clean climb collect consider copy count cover cross decorate describe
discover divide draw empty enter envy examine fasten fill finish fold follow forget gather greet guard guide hide hold ignore
imitate improve inspect invite join keep know label lead learn leave lift light load measure mend mention mind move name notice
observe offer open order outlast paint pass polish praise prefer prepare protect pull push reach recall remember repair replace
rescue reveal reward sail search sell serve shade shape share shelter sketch sort study support surround teach tend thank touch
trade trust turn visit warm wash watch weigh welcome widen work wrap
"""
PREPOSITIONS = "of with near behind under beyond beside without above across after before against along among for"
DETERMINERS = "the the the a every this that our their one some her his another each no"
ADVERBS = "often rarely always slowly seldom gladly quietly soon never usually sometimes finally"
