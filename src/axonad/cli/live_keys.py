"""``axonad live-key``: the keys of the web server of ``axonad live``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.cli.options import AsJson
from axonad.cli.terminal import plain_table, print_json, print_line, print_table
from axonad.live.config import read_config
from axonad.live.web.keys import create_key, list_keys, revoke_key

DEFAULT = "axonad-live-keys.json"

live_key_app = typer.Typer(
    help="Keys of the web server of `axonad live`: add, list, revoke.", no_args_is_help=True
)

KeysFile = Annotated[
    Path | None, typer.Option("--keys-file", help=f"File of the keys.  [default: {DEFAULT}]")
]
Config = Annotated[Path | None, typer.Option("--config", help="Configuration that names the file.")]
Name = Annotated[str, typer.Argument(help="Name of the key, such as that of a person.")]


@live_key_app.command("add")
def add_key(
    name: Name,
    role: Annotated[str, typer.Option(help="`read`, or `write` to acknowledge and send.")] = "read",
    keys_file: KeysFile = None,
    config: Config = None,
) -> None:
    """Make a key and print it; it is shown this once."""
    path = _file(keys_file, config)
    print_line(create_key(path, name=name, role=role))
    typer.echo(f"added to {path}; the key is not shown again", err=True)


@live_key_app.command("list")
def list_command(
    keys_file: KeysFile = None, config: Config = None, as_json: AsJson = False
) -> None:
    """List the keys: name, role, and when they were made."""
    keys = list_keys(_file(keys_file, config))
    if as_json:
        print_json([{"name": k.name, "role": k.role, "created": k.created} for k in keys])
        return
    table = plain_table("name", "role", "created", bold_first=True)
    for key in keys:
        table.add_row(key.name, key.role, key.created)
    print_table(table)


@live_key_app.command("revoke")
def revoke_command(name: Name, keys_file: KeysFile = None, config: Config = None) -> None:
    """Remove a key; a running server refuses it from then on."""
    path = _file(keys_file, config)
    revoke_key(path, name=name)
    typer.echo(f"revoked {name!r} in {path}", err=True)


def _file(keys_file: Path | None, config: Path | None) -> Path:
    """Return the file of the keys: the option, else that of the configuration."""
    if keys_file is not None:
        return keys_file
    return Path(read_config(config).server.keys_file or DEFAULT)
