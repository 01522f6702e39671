import { basename } from 'node:path'
import { deployment } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { parse as parseYaml } from 'yaml'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { readLocalFile } from '../command/local-files.ts'
import { styled, writeJson } from '../command/terminal.ts'
import { connectEngine, engineOptions } from './engine-access.ts'

export const deployCommand: Command = {
  usage: '<file.yaml> [--override capacity] [--json] [--url URL] [--token TOKEN]',
  about:
    'Replaces the whole configuration with a YAML or JSON file. Unchanged pipelines keep running.\n' +
    'The file name - reads from standard input.',

  async run(args, terminal) {
    const options = { override: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions } as const
    const { values, positionals } = parseArguments(args, options, ['file'])
    const { override } = values
    if (override !== undefined && override !== 'capacity')
      throw new UsageError(`--override ${override} should be capacity`)
    const file = positionals[0]!
    const body = await readDeployment(file)
    const deployed = await connectEngine(values, terminal).deploy(body, { override })
    const { out } = terminal
    if (values.json) return writeJson(out, deployed)
    const { sources, sinks, pipelines } = deployed
    out.write(
      `${styled(out, 'green', 'deployed')} ${basename(file)}: pipelines ${pipelines.length}, sources ${sources.length}, sinks ${sinks.length}\n`,
    )
  },
}

/** Throws an `Error` that names the file and the invalid field. */
async function readDeployment(file: string) {
  const text = await readLocalFile(file === '-' ? '/dev/stdin' : file)
  try {
    return parseAs(deployment, parseYaml(text.toString()))
  } catch (cause) {
    throw new Error(`${file} cannot be deployed: ${(cause as Error).message}`, { cause })
  }
}
