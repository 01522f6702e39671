"""
Writes the schemas of args and config, the events, and the SHA-256 of own models into the manifests
of plugins:

    python3 -m eyrie_element.generate PLUGIN_FOLDER…
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from .element import ElementDefinition
from .frame import Event
from .plugin_module import describe_error, find_definition
from .schema import to_name, to_schema

_DIALECT = 'https://json-schema.org/draft/2020-12/schema'
_FIELD_TYPES = {'string': 'string', 'number': 'number', 'integer': 'number', 'boolean': 'boolean'}
_COMMON_FIELDS = {field.name for field in dataclasses.fields(Event)}


def write_manifest(folder: Path) -> None:
    """
    Raises what the code of the plugin raises, and `LookupError` if it does not define an element of
    the manifest.
    """
    path = folder / 'plugin.json'
    manifest = json.loads(path.read_text())
    for element in manifest['elements']:
        definition = find_definition(folder / manifest['entry'], element['name'])
        element.update(describe_element(definition, element.get('capabilities', {})))
        for model in element.get('capabilities', {}).get('inference', {}).get('own', []):
            model['sha256'] = hashlib.sha256((folder / model['file']).read_bytes()).hexdigest()
    written = json.dumps(manifest, indent=2, ensure_ascii=False) + '\n'
    # `eyrie plugin dev` uploads the folder again when a file changes.
    if path.read_text() != written:
        path.write_text(written)


def describe_element(
    definition: ElementDefinition[Any, Any], capabilities: dict[str, Any]
) -> dict[str, Any]:
    """Returns the fields of the manifest that follow from the code."""
    generated = {
        'params_schema': {'$schema': _DIALECT, **to_schema(definition.args)},
        'config_schema': {'$schema': _DIALECT, **to_schema(definition.config)}
        if definition.config
        else None,
    }
    if definition.events is None:
        return generated
    events = {event.type: _to_field_types(event) for event in definition.events}
    return {'capabilities': {**capabilities, 'events': events}, **generated}


def _to_field_types(event: type[Event]) -> dict[str, str]:
    properties = to_schema(event)['properties']
    own = [
        to_name(field.name)
        for field in dataclasses.fields(event)
        if field.name not in _COMMON_FIELDS
    ]
    return {name: _FIELD_TYPES.get(properties[name].get('type'), 'any') for name in own}


def main(folders: list[str]) -> int:
    if not folders:
        print('usage: python3 -m eyrie_element.generate PLUGIN_FOLDER…', file=sys.stderr)
        return 2
    for folder in folders:
        try:
            write_manifest(Path(folder).resolve())
        except Exception as error:
            print(f'{folder}: {describe_error(error, Path(folder).resolve())}', file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
