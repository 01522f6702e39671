import type { Client } from '@eyrie/client'
import type { Publisher, TrustedPlugins } from '@eyrie/contract'
import { publisherKey } from '@eyrie/contract/plugin-signature'
import { readPublicKey } from '@eyrie/plugin-signature/publisher-keys'
import { type Command, JSON_OPTION, parseArguments, UsageError } from '../command/command.ts'
import { type Output, writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { connectEngine, connectToChangePlugins, ENGINE_OPTIONS } from '../engine/engine-access.ts'
import { readKeyFile } from './key-files.ts'
import { printRefusals } from './plugin-report.ts'

/** Commands for the owner of an engine, who decides whose plugins the engine installs and runs. */

/** `eyrie plugin trust`: trusts a publisher. */
export const trustPublisherCommand: Command = {
  usage: '<publisher.pub|key> [--name NAME] [--force] [--url URL] [--token TOKEN]',
  about:
    'Trusts a publisher of plugins, under the name in its file or another one. From the first publisher on, the engine\n' +
    'accepts only plugins of trusted publishers. --force lets plugins stop that are not signed.',

  async run(args, terminal) {
    const options = {
      name: { type: 'string' },
      force: { type: 'boolean' },
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['public key'])
    const [source] = positionals
    const engine = connectToChangePlugins(values, terminal)
    const { key, name } = await readPublisher(source, values.name, engine)
    const before = await engine.pluginTrust.get()
    const { signatures } = await engine.pluginTrust.setPublisher(
      key,
      { name },
      { force: values.force },
    )
    writeSuccess(terminal.out, 'trusted', `${name} (key ${key})`)
    if (before.signatures !== signatures) {
      terminal.out.write('From now on, the engine accepts only plugins of trusted publishers.\n')
    }
    await reportRefusals(engine, terminal.out)
  },
}

/**
 * Reads the publisher from a file, or returns the key in the argument. For a key that the engine
 * knows, the name is optional.
 */
async function readPublisher(
  source: string,
  name: string | undefined,
  engine: Client,
): Promise<{ key: string; name: string }> {
  if (!publisherKey.safeParse(source).success) {
    const { key, publisher } = await readKeyFile(source, readPublicKey)
    return { key, name: name ?? publisher }
  }
  const { publishers } = await engine.pluginTrust.get()
  const known = name ?? publishers.find(({ key }) => key === source)?.name
  if (known === undefined) throw new UsageError('--name is missing: the name of the publisher')
  return { key: source, name: known }
}

/** `eyrie plugin distrust`: distrusts or deletes a publisher. */
export const distrustPublisherCommand: Command = {
  usage: '<name|key> [--delete] [--url URL] [--token TOKEN]',
  about:
    'Distrusts a publisher with all its keys: its plugins do not start again. With --delete, the publisher is unknown\n' +
    'instead; without any publisher, the engine accepts all plugins again.',

  async run(args, terminal) {
    const options = { delete: { type: 'boolean' }, ...ENGINE_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['name or key'])
    const engine = connectToChangePlugins(values, terminal)
    const publishers = findPublishers(await engine.pluginTrust.get(), positionals[0])
    for (const { key, name } of publishers) {
      if (values.delete) await engine.pluginTrust.removePublisher(key)
      else await engine.pluginTrust.setPublisher(key, { name, state: 'distrusted' })
      writeSuccess(terminal.out, values.delete ? 'deleted' : 'distrusted', `${name} (key ${key})`)
    }
    const { signatures } = await engine.pluginTrust.get()
    if (signatures === 'optional') {
      terminal.out.write(
        'The engine accepts plugins of all publishers, and plugins without a signature.\n',
      )
    }
    await reportRefusals(engine, terminal.out)
  },
}

function findPublishers({ publishers }: TrustedPlugins, searched: string): Publisher[] {
  const found = publishers.filter(({ key, name }) => key === searched || name === searched)
  if (found.length > 0) return found
  throw new Error(`the engine knows no publisher ${searched}: eyrie plugin publishers lists them`)
}

/** `eyrie plugin publishers`: lists the publishers and the exceptions. */
export const listPublishersCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about:
    'Lists the publishers of plugins that are trusted or distrusted, and the plugins that need no signature.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS })
    const trust = await connectEngine(values, terminal).pluginTrust.get()
    if (values.json) return writeJson(terminal.out, trust)
    const { signatures, publishers, exceptions } = trust
    const rows = publishers.map(({ name, state, since, key }) => [name, state, since, key])
    writeTable(terminal.out, [['PUBLISHER', 'STATE', 'SINCE', 'KEY'], ...rows])
    terminal.out.write(`signatures of uploaded plugins: ${signatures}\n`)
    if (exceptions.length > 0) {
      terminal.out.write(`accepted without them: ${exceptions.join(', ')}\n`)
    }
  },
}

/** `eyrie plugin allow`: adds an exception for a plugin. */
export const allowPluginCommand: Command = {
  usage: '<plugin> [--url URL] [--token TOKEN]',
  about: 'Accepts all versions of a plugin without the signature of a trusted publisher.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, ENGINE_OPTIONS, ['plugin'])
    const [name] = positionals
    await connectToChangePlugins(values, terminal).pluginTrust.addException(name)
    writeSuccess(terminal.out, 'allowed', name)
  },
}

/** `eyrie plugin disallow`: deletes an exception. */
export const disallowPluginCommand: Command = {
  usage: '<plugin> [--url URL] [--token TOKEN]',
  about:
    'Withdraws eyrie plugin allow: the plugin needs the signature of a trusted publisher again.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, ENGINE_OPTIONS, ['plugin'])
    const [name] = positionals
    const engine = connectToChangePlugins(values, terminal)
    await engine.pluginTrust.removeException(name)
    writeSuccess(terminal.out, 'disallowed', name)
    await reportRefusals(engine, terminal.out)
  },
}

/** Prints which installed versions do not start after the change. */
const reportRefusals = async (engine: Client, out: Output) =>
  printRefusals(await engine.plugin.list(), out)
