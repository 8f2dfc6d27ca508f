import pytest

from assay.harness.engines.layers import ImageConfig
from assay.instances.leaks.secrets import search_config, search_file, search_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export NPM_TOKEN=abc", [("credential", "NPM_TOKEN")]),
        ("RUN |2 http_proxy=http://p:1 V=2 /bin/sh", [("proxy", "http_proxy")]),
        ("curl https://me:s3cret@host/x", [("credential", "a password in an address")]),
        ("ENV REQUESTS_CA_BUNDLE=/etc/corp.pem", [("ca", "REQUESTS_CA_BUNDLE")]),
        ("ENV GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568", []),
        ("export TOKEN=$OTHER", []),
        ("export PASSWORD=<password>", []),
        ("git clone https://host/a:b@c", []),
        ("ENV PATH=/opt/venv/bin:/usr/bin LANG=C.UTF-8 KEYS=2", []),
        ("RUN --mount=type=secret,id=settings sh /build/environment.sh", []),
    ],
)
def test_variables_and_addresses_are_told_apart(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(search_text(text)) == expected


def test_value_is_never_shown() -> None:
    found = list(search_config(ImageConfig(env=("DB_PASSWORD=hunter2 and more",), history=("RUN TOKEN=hunter2 x",))))
    assert [(each.path, each.what) for each in found] == [
        ("(environment)", "DB_PASSWORD"),
        ("(build history)", "TOKEN"),
    ]
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("root/.npmrc", "registry=https://r/\nsave-exact=true\n"),
        ("etc/pip.conf", "[global]\nno-cache-dir = true\n"),
        ("root/.docker/config.json", '{"auths": {}}'),
        ("testbed/.git/config", "[core]\n\tbare = false\n"),
        ("etc/apt/apt.conf.d/70debconf", 'DPkg::Pre-Install-Pkgs {"/usr/sbin/dpkg-preconfigure --apt";};\n'),
        (
            "opt/venv/lib/python3/site-packages/x/tests/key.pem",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
        ),
        ("etc/ssl/private/ssl-cert-snakeoil.key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n"),
        ("opt/go/mod/cache/download/host/a/@v/v1.zip!host/a@v1/docker/.env", "MYSQL_PASSWORD=zaphod\n"),
        ("opt/node/node_modules/a/.npmrc", "//r/:_authToken=npm_abc\n"),
        ("root/.m2/settings.xml", "<settings><!-- <proxy> --></settings>"),
        ("usr/share/maven/conf/settings.xml", "  <proxy>\n"),
    ],
)
def test_ordinary_settings_are_no_findings(path: str, text: str) -> None:
    assert list(search_file(path, text.encode())) == []


@pytest.mark.parametrize("path", ["root/.env", "opt/node/.npmrc", "opt/venv/pip.conf", "srv/app/.env"])
def test_settings_beside_packages_are_the_machines(path: str) -> None:
    text = "MYSQL_PASSWORD=zaphod\n//r/:_authToken=npm_abc\nindex-url = https://me:s3cret@host/\n"
    assert {each.rule for each in search_file(path, text.encode())} >= {"credential"}
