"""Honest inputs of the text targets, and the words that they are made of."""

import gzip
import zlib

import brotli
import zstandard

ROBOTS = (
    b"private/a\nUser-agent: *\nDisallow: /private/\nAllow: /private/open$\nCrawl-delay: 2.5\nSitemap: https://example.com/s.xml\n",
    b"a/b?c=d\nUser-agent: gossamer\nUser-agent: other\nDisallow: /*?c=*d$\n\nUser-agent: *\nDisallow:\nRequest-rate: 1/5s 0600-0845\n",
    b"x%41\n\xef\xbb\xbfuser-agent : Gossamer # us\r\ndisallow : /x%41/*/y\rallow:/index.html\n",
    b"aaaaaaaaaaaaaaaaaaaaaaaa\nUser-agent: *\nDisallow: /*a*a*a*a*a*b\n",
    b"\n<!DOCTYPE html><title>no</title>User-agent: *\nDisallow: /",
)
ROBOTS_WORDS = (
    b"User-agent:", b"Disallow:", b"Allow:", b"Crawl-delay:", b"Sitemap:", b"Request-rate:", b"*", b"$", b"/", b"%2F", b"%", b"#", b"\r",
    b"gossamer", b"index.html", b"\xef\xbb\xbf", b"\xc3\xa9", b"/*a", b"1/5m", b"0.000000001", b"99999999999", b"1e9",
)  # fmt: skip
SITEMAPS = (
    (
        b'\0<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.com/a?b=1&amp;c=2</loc>'
        b"<lastmod>2024-02-29T12:30:00+02:00</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url></urlset>"
    ),
    b"\1<sitemapindex><sitemap><loc><![CDATA[ https://example.com/one.xml ]]></loc><lastmod>2024-13</lastmod></sitemap></sitemapindex>",
    b"\2https://example.com/\nhttps://example.com/b\n\nnot a url\n",
    (
        b'\0<rss version="2.0"><channel><link>https://example.com</link><item><title>t</title><link>/x</link><guid isPermaLink="true">https://example.com/g</guid>'
        b"<pubDate>Thu, 01 Feb 2024 10:00:00 GMT</pubDate></item></channel></rss>"
    ),
    b'\0<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="alternate" href="/y"/><updated>2024-01-01</updated></entry></feed>',
    b'\0<!DOCTYPE urlset [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><urlset><url><loc>&c;&#x41;&#65;</loc></url></urlset>',
    b'\0<urlset><url><loc>https://example.com/</loc><xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></url><!-- x --></urlset>',
    b"\4" + gzip.compress(b"<urlset><url><loc>https://example.com/packed</loc></url></urlset>"),
    b"\3" + '<?xml version="1.0"?><urlset><url><loc>https://example.com/\u00e9</loc></url></urlset>'.encode("utf-16"),
)
SITEMAP_WORDS = (
    b"<urlset>", b"</urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"<lastmod>", b"<priority>", b"<![CDATA[", b"]]>", b"<!--", b"-->",
    b"<?xml ", b"?>", b"<!DOCTYPE ", b"[", b"]>", b"&amp;", b"&#", b"&#x110000;", b";", b"https://", b"http://[", b"xmlns:a=", b'"', b"'",
    b"/>", b"<item>", b"<link>", b"<entry>", b'encoding="utf-16"', b"2024-02-30", b"-0001-01-01", b"9999-12-31T23:59:60Z", b"1e400", b"nan",
)  # fmt: skip
PAGES = (
    (
        b"\1<!doctype html><html lang=en><head><title>One &amp; two</title><meta charset=utf-8><meta name=robots content='noindex, max-snippet:5'>"
        b"<link rel=canonical href=/c><base href='/b/'><meta http-equiv=refresh content='3; url=next'></head><body><nav><a href=/n>n</a></nav>"
        b"<p>Some words of a page, enough of them to be its main text, it seems.</p><a href='x?y=1&amp;z' rel='nofollow next'>link</a></body></html>"
    ),
    b"\1<table><tr><td><a href=a><b><i><p>x</b></i></table><select><option>1<svg><desc><p></svg><template><a href=t>",
    b"\0<html><script>var a='</scr'+'ipt><a href=no>';</script><style>p{}</style><textarea><a href=no></textarea><!-- <a href=no> --><a href=yes>",
    b"\2\xc4\xe3\xba\xc3<p>\x81\x30\x81\x30\xff</p><a href=\xc4\xe3>",
    b"\4plain text with https://example.com/ in it\n",
    b"\5" + "<p>sixteen bits<a href=/u>x".encode("utf-16"),
    b"\1" + b"<div>" * 80 + b"<a href=deep>d" + b"</div>" * 80,
    b"\1<p " + b" ".join(b"a%d=1" % n for n in range(300)) + b"><a href=after>",
)
PAGE_WORDS = (
    b"<p>", b"</p>", b"<a href=", b"</a>", b"<div ", b"<table>", b"<td>", b"<select>", b"<svg>", b"<math>", b"<template>", b"</template>",
    b"<script>", b"</script>", b"<style>", b"<title>", b"</title>", b"<textarea>", b"<plaintext>", b"<frameset>", b"<base href=", b"<meta ",
    b"charset=", b"http-equiv=refresh content='0;url=", b"<!--", b"-->", b"<![CDATA[", b"<!", b"<?", b"</", b"/>", b'="', b"='", b"&#0;", b"&#xd800;",
    b"&amp", b"<b>", b"<i>", b"<font>", b"<body ", b"<html ", b"<h1>", b"<br>", b"<noscript>", b"<iframe src=", b"http://[", b"javascript:", b"\x1b$B",
)  # fmt: skip
URLS = (
    b"https://www.example.com/a/b?c=d#e\n../x/./y/%7Euser?utm_source=a&b=2&a=1#frag",
    b"http://EXAMPLE.com:80/\n//other.example:8080/a;b?q=%20+&&=",
    "https://b\u00fccher.example/\nhttps://xn--bcher-kva.example/stra\u00dfe?\u4f60=\u597d".encode(),
    b"http://0x7f.1/\nhttp://[::ffff:127.0.0.1]/%c3%28",
    b"https://user:pass@host.example/\nhttps:\\\\host.example\\a",
    b"https://example.com/\n?a=1&amp;b=2",
    b"data:text/plain,x\njavascript:alert(1)",
    b"https://example.com/a/b/a/b/a/b/\nhttps://example.com/2024/02/30/index.php?PHPSESSID=0123456789abcdef&page=2",
)
URL_WORDS = (
    b"http://", b"https:", b"//", b"/../", b"/./", b"%2e", b"%2F", b"%00", b"%", b"?", b"#", b"&", b"=", b";", b"@", b":", b":80", b":443", b":99999",
    b"[::1]", b"127.0.0.1", b"0177.0.0.1", b"\\", b"\t", b"xn--", b"utm_source=", b"sid=", b";jsessionid=", b"index.html", b"\xc2\xad", b"\xe3\x80\x82",
    b"\xef\xbc\x8e", b"\xc3\x9f", b"co.uk", b"..", b"file:", b"ws://", b"|", b"^", b"{", b"%25",
)  # fmt: skip
HEADERS = (
    b"120\nWed, 21 Oct 2026 07:28:00 GMT\nSunday, 06-Nov-94 08:49:37 GMT\nSun Nov  6 08:49:37 1994",
    b'text/html; charset="utf-8"; x=y\napplication/xhtml+xml;charset=utf-8\n*/*\ntext/html, text/plain',
    b"0; url='https://example.com/'\n5;URL=next\n0.5,x",
    b'<https://example.com/next>; rel="next canonical", <x>; rel=y\nnoindex, nofollow\ngooglebot: none\nunavailable_after: 25 Jun 2030 15:00:00 PST',
    b"de, en-GB\nsid=1; Domain=.example.com; Max-Age=1",
)
HEADER_WORDS = (
    b"charset=", b'"', b"\\", b";", b",", b"=", b"url=", b"rel=", b"<", b">", b"GMT", b"Feb", b"30", b"-1", b"1e9", b"00:60:61", b"noindex",
    b"max-snippet:", b"\xa0", b"0" * 30,
)  # fmt: skip
_TEXT = b"some text that packs well, well, well, very well indeed " * 20
CODED = (
    b"\0" + gzip.compress(_TEXT),
    b"\1" + zlib.compress(_TEXT),
    b"\2" + brotli.compress(_TEXT),
    b"\3" + zstandard.compress(_TEXT),
    b"\4" + gzip.compress(gzip.compress(_TEXT)),
    b"\5" + gzip.compress(brotli.compress(_TEXT)),
    b"\0" + gzip.compress(_TEXT) * 3,
    b"\0" + gzip.compress(b" " * 2_000_000),
    b"\0plain after all",
)
CONFIGS = (
    b'max_pages = 100\ndelay = 0.5\nscope = "host"\ninclude = ["/a", "b$"]\n[politeness]\nbackoff = 5\n[traps]\nlength = 100\n',
    b'[fetch]\nuser_agent = "x"\nconnect_to = "127.0.0.1:80"\nproxy = "socks5h://127.0.0.1:1"\nnameservers = ["127.0.0.1:53"]\n',
    b"max_pages=none\npoliteness.delay=1\nmax_bytes = 2G\nworkers=0\norder=dfs\nmax_seconds=1h\n",
    b'contact = "a@b.example"\ntext = "none"\nnear_duplicates = "off"\n[url]\nstrip_www = true\n[store]\nwarc_bytes = 1000000\n',
    b"[[x]]\na.b.c = 1979-05-27T07:32:00Z\n",
)
CONFIG_WORDS = (
    b"max_pages", b"max-pages", b"delay", b"scope", b"politeness", b"fetch", b"fetch.", b"include", b"exclude", b"= ", b"=", b"[", b"]", b'"', b"'",
    b"inf", b"nan", b"-1", b"1e400", b"9223372036854775808", b"true", b"none", b"{", b"}", b"[politeness]\n", b"1979-05-27", b"\\u0000", b"\\ud800", b"(",
    b"*", b"store", b"near", b"near.k", b"traps.length", b"parse.max_bytes", b"host_connections", b"workers",
)  # fmt: skip
