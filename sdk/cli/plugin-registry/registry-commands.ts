import { readSigningKey } from '@eyrie/plugin-signature/publisher-keys'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  requireOption,
  UsageError,
} from '../command/command.ts'
import { type Output, styled, writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { readKeyFile } from '../plugin/key-files.ts'
import { mirrorRegistry } from './mirror-registry.ts'
import { publishPackage } from './publish-package.ts'
import { type RegistryIndex, toLabel } from './registry-index.ts'
import {
  findRegistryLocation,
  isAddress,
  openRegistry,
  REGISTRY_OPTION,
  readIndex,
} from './registry-location.ts'

// Commands that fill, copy and search registries: folders with signed packages of plugins and an
// index, on a web server or a USB stick.

/** `eyrie plugin publish`: adds a plugin to a registry. */
export const publishPluginCommand: Command = {
  usage: '<folder|file.tgz> --key <publisher.key> [--registry <folder>] [--new-publisher]',
  about:
    'Adds a plugin to the registry in a folder, which it creates if necessary, and signs the plugin if it is not signed.\n' +
    '--new-publisher allows a plugin that was published there by another publisher, or with another key.',

  async run(args, terminal) {
    const options = {
      key: { type: 'string' },
      'new-publisher': { type: 'boolean' },
      ...REGISTRY_OPTION,
    } as const
    const { values, positionals } = parseArguments(args, options, ['folder or package'])
    const [path] = positionals
    const folder = requireFolder(findRegistryLocation(values.registry, terminal))
    const signingKey = await readKeyFile(requireOption('key', values.key), readSigningKey)
    const { entry, isUnchanged } = await publishPackage(path, {
      folder,
      signingKey,
      acceptsNewPublisher: values['new-publisher'] ?? false,
    })
    if (isUnchanged) {
      terminal.out.write(`unchanged; ${folder} has ${toLabel(entry)} already\n`)
    } else {
      writeSuccess(terminal.out, 'published', `${toLabel(entry)} as ${entry.publisher}: ${folder}`)
    }
  },
}

/** `eyrie plugin search`: lists the plugins of a registry. */
export const searchPluginsCommand: Command = {
  usage: '[words] [--registry <folder|url>] [--json]',
  about:
    'Lists the plugins of a registry whose name, description or publisher contains all words, each with its newest version.',

  async run(args, terminal) {
    const { words, options } = splitWords(args)
    const { values } = parseArguments(options, { ...REGISTRY_OPTION, ...JSON_OPTION })
    const registry = openRegistry(findRegistryLocation(values.registry, terminal), terminal)
    const index = await readIndex(registry)
    const found = index.entries.filter(entry => matchesAll(words, entry))
    if (values.json) return writeJson(terminal.out, found)

    const rows = selectNewest(found).map(({ name, version, publisher, license, description }) => [
      name,
      version,
      publisher,
      license,
      description,
    ])
    writeTable(terminal.out, [
      ['PLUGIN', 'VERSION', 'PUBLISHER', 'LICENSE', 'DESCRIPTION'],
      ...rows,
    ])
    printRejected(index, terminal.err)
    terminal.out.write(
      'Anyone can use the name of a publisher: eyrie plugin install compares its key with the keys that the engine trusts.\n',
    )
  },
}

/** `eyrie plugin mirror`: copies a registry. */
export const mirrorPluginsCommand: Command = {
  usage: '<folder|url> <folder>',
  about:
    'Copies a registry into a folder, such as on a USB stick, for machines without a network. Copies only the versions that the\n' +
    'folder does not have yet, and deletes none.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['registry', 'folder'])
    const [source, folder] = positionals
    const registry = openRegistry(source, terminal)
    const { copied, total } = await mirrorRegistry(registry, requireFolder(folder))
    writeSuccess(
      terminal.out,
      'mirrored',
      `${total} versions into ${folder}, ${copied} of them new`,
    )
  },
}

/**
 * Separates the words, which are the arguments before the first option, from the options. Their
 * number is not fixed, as `parseArguments` expects it.
 */
function splitWords(args: string[]): { words: string[]; options: string[] } {
  const firstOption = args.findIndex(arg => arg.startsWith('-'))
  if (firstOption < 0) return { words: args, options: [] }
  return { words: args.slice(0, firstOption), options: args.slice(firstOption) }
}

/** Whether each word occurs in the name, description or publisher of an entry. */
function matchesAll(
  words: readonly string[],
  { name, description, publisher }: RegistryEntry,
): boolean {
  const text = `${name} ${description} ${publisher}`.toLowerCase()
  return words.every(word => text.includes(word.toLowerCase()))
}

/**
 * Returns the newest version of each plugin. The entries must be in the order of an index, which
 * has the versions of a plugin in a row, the newest first.
 */
const selectNewest = (entries: readonly RegistryEntry[]): RegistryEntry[] =>
  entries.filter(({ name }, position) => name !== entries[position - 1]?.name)

function printRejected({ rejected }: RegistryIndex, err: Output): void {
  for (const entry of rejected) {
    err.write(
      `${styled(err, 'red', 'rejected:')} ${JSON.stringify(toLabel(entry))}: ${entry.reason}\n`,
    )
  }
}

/**
 * Returns a location that is a folder. Throws `UsageError` for an address, because a registry on a
 * web server is read-only.
 */
function requireFolder(location: string): string {
  if (!isAddress(location)) return location
  throw new UsageError(
    `${location} should be a folder: publish there, and copy the folder to the web server`,
  )
}
