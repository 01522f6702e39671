import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Deployment, deployment } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { parse as parseYaml } from 'yaml'
import {
  type Command,
  JSON_OPTION,
  OVERRIDE_OPTION,
  parseArguments,
  parseOverride,
} from '../command/command.ts'
import { readLocalFile } from '../command/local-files.ts'
import { type Terminal, writeJson, writeSuccess } from '../command/terminal.ts'
import { connectEngine, ENGINE_OPTIONS } from './engine-access.ts'

/** `eyrie deploy`: replaces the configuration of the engine with the one in a file. */
export const deployCommand: Command = {
  usage: '<file.yaml> [--override capacity] [--json] [--url URL] [--token TOKEN]',
  about:
    'Replaces the whole configuration with a YAML or JSON file. Unchanged pipelines keep running.\n' +
    'The file name - reads from standard input.',

  async run(args, terminal) {
    const options = { ...OVERRIDE_OPTION, ...JSON_OPTION, ...ENGINE_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['file'])
    const [file] = positionals
    const override = parseOverride(values.override)

    const newDeployment = await readDeployment(file, terminal)
    const configuration = await connectEngine(values, terminal).deploy(newDeployment, { override })

    if (values.json) return writeJson(terminal.out, configuration)
    const { sources, sinks, pipelines } = configuration
    const counts = `pipelines ${pipelines.length}, sources ${sources.length}, sinks ${sinks.length}`
    writeSuccess(terminal.out, 'deployed', `${basename(file)}: ${counts}`)
  },
}

/**
 * Reads and validates a YAML or JSON file, or standard input if its name is `-`. Throws an `Error`
 * that names the file and the invalid field.
 */
async function readDeployment(file: string, { input }: Terminal): Promise<Deployment> {
  // Not through /dev/stdin, which cannot be opened if standard input is a socket.
  const content = file === '-' && input ? await text(input) : String(await readLocalFile(file))
  try {
    // Every JSON text is also valid YAML.
    return parseAs(deployment, parseYaml(content))
  } catch (cause) {
    const name = file === '-' ? 'standard input' : file
    throw new Error(`${name} cannot be deployed: ${(cause as Error).message}`, { cause })
  }
}
