import pytest

from assay.instances.verifiers.installs import read_installs


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("apt-get update\napt-get install -y --no-install-recommends curl", ["apt-get curl -"]),
        ("curl -LsSf https://uv.example/0.9.5/install.sh | sh", ["curl https://uv.example/0.9.5/install.sh pinned"]),
        (
            "if true; then\n uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf pytest --ctrf /logs/x /t.py -rA; fi",
            ["uvx 3.13 pinned", "uvx pytest==8.4.1 pinned", "uvx pytest-json-ctrf -"],
        ),
        ("x=$(wget -qO- 'https://x.example/a.txt')", ["wget https://x.example/a.txt -"]),
        ('wget "https://x.example/$VERSION/a.txt"', []),
        ('sudo python3.12 -m pip install "requests[socks]>=2"', ["pip requests[socks]>=2 -"]),
        ("DEBIAN_FRONTEND=noninteractive apt-get install -y jq=1.6-2", ["apt-get jq=1.6-2 pinned"]),
        ("timeout 60 git clone https://github.com/a/b.git /tmp/b", ["git https://github.com/a/b.git -"]),
        ("for i in 1; do cargo install ripgrep@14.0.0; done", ["cargo ripgrep@14.0.0 pinned"]),
        ("npm install @acme/x@1.2.3 && go mod download", ["npm @acme/x@1.2.3 pinned"]),
        ("npm test; go test ./...; echo curl; git status; pip list", []),
        ("echo 'no end", []),
    ],
)
def test_what_a_script_downloads_is_read_with_its_versions(script: str, found: list[str]) -> None:
    installs = read_installs({"test.sh": script})
    assert [f"{each.tool} {each.what} {'pinned' if each.is_pinned else '-'}" for each in installs] == found


def test_a_download_has_the_place_of_its_command() -> None:
    (install,) = read_installs({"a.sh": "true", "b.sh": "\n\npip install x"})
    assert (install.file, install.line) == ("b.sh", 3)
