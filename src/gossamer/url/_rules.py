"""The canonical rules, and the one place that lists the parameter names they remove."""

from typing import Annotated

from msgspec import Meta, Struct

__all__ = ["AGGRESSIVE", "DEFAULT", "Rules"]

# Click and campaign identifiers: added to a link by whoever shares it, read by scripts, never by the server that answers.
# A trailing * matches any ending. Names are compared without regard to case. Generic names that often select content
# (ref, source, campaign, id) do not belong here.
TRACKING = (
    "utm_*", "fbclid", "gclid", "gclsrc", "gbraid", "wbraid", "dclid", "msclkid", "mc_cid", "mc_eid", "yclid", "ysclid",
    "_openstat", "igshid", "igsh", "twclid", "ttclid", "li_fat_id", "epik", "rdt_cid", "s_cid", "s_kwcid",
    "mkt_tok", "hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp", "hsctatracking", "vero_id", "vero_conv",
    "oly_anon_id", "oly_enc_id", "_ga", "_gl", "_gac", "__s", "wickedid", "rb_clickid", "pk_campaign", "pk_kwd", "pk_source",
    "pk_medium", "pk_content", "mtm_*", "matomo_*", "piwik_*", "spm_id_from", "trk_contact", "trk_msg", "trk_module",
    "trk_sid", "guce_referrer", "guce_referrer_sig", "srsltid", "gad_source", "gad_campaignid", "ml_subscriber",
    "ml_subscriber_hash", "dm_i", "_branch_match_id", "_branch_referrer", "at_custom*", "at_medium", "at_campaign",
    "ns_mchannel", "ns_campaign", "wt_mc", "wt_zmc", "cmpid", "ncid", "sscid", "irclickid", "awc", "cjevent", "zanpid",
)  # fmt: skip

# What a server hands out to recognise a visitor without cookies: each visit sees another value for the same page.
SESSION = (
    "phpsessid", "jsessionid", "sid", "sessionid", "session_id", "sessid", "aspsessionid*", "cfid", "cftoken", "oscsid",
    "zenid",
)  # fmt: skip

# Names that usually only say where the visitor came from, but select content on some sites: removed by AGGRESSIVE alone.
SUSPECT = ("ref", "ref_*", "referer", "referrer", "source", "src", "from", "campaign", "cid", "affiliate", "aff_id", "partner",
           "share", "via", "feature", "spm", "si")  # fmt: skip

DOCUMENTS = ("index.html", "index.htm", "index.php", "index.asp", "index.aspx", "index.jsp", "index.shtml", "index.cgi",
             "default.aspx", "default.asp", "default.html", "default.htm")  # fmt: skip


class Rules(Struct, frozen=True):
    """Which spellings count as the same URL.

    Lower-case scheme and host, IDN as punycode, default ports and dot segments are no fields: every browser normalises them
    before it asks, so no two spellings of them can reach a server (docs/decisions/0003-canonical-urls.md).
    """

    fragment: Annotated[bool, Meta(description="Remove `#fragment`: servers never see it.")] = True
    credentials: Annotated[
        bool, Meta(description="Remove `user:password@`: a crawler does not use what a link carries.")
    ] = True
    host_dot: Annotated[bool, Meta(description="Remove the final dot of a host: `example.com.` is `example.com`.")] = (
        True
    )
    percent: Annotated[
        bool,
        Meta(
            description="Decode escaped unreserved characters, upper-case the other escapes, escape what RFC 3986 forbids."
        ),
    ] = True
    sort_query: Annotated[bool, Meta(description="Sort parameters by name, keeping the order of equal names.")] = True
    empty_query: Annotated[bool, Meta(description="Remove a `?` with nothing after it, and empty parameters.")] = True
    tracking: Annotated[
        tuple[str, ...],
        Meta(description="Parameters to remove because they only track visitors (`*` ends a prefix)."),
    ] = TRACKING
    sessions: Annotated[
        tuple[str, ...],
        Meta(description="Parameters, also `;name=value` in the path, to remove because they name a session."),
    ] = SESSION
    documents: Annotated[
        tuple[str, ...], Meta(description="Default documents to remove from the end of the path.")
    ] = ()
    trailing_slash: Annotated[bool, Meta(description="Remove the slash at the end of a path longer than `/`.")] = False
    slashes: Annotated[bool, Meta(description="Merge runs of slashes in the path.")] = False


DEFAULT = Rules()
AGGRESSIVE = Rules(tracking=TRACKING + SUSPECT, documents=DOCUMENTS, trailing_slash=True, slashes=True)
