import { basename } from 'node:path'
import { deployment } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { parse as parseYaml } from 'yaml'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { read } from '../read.ts'
import { json, styled, UsageError } from '../terminal.ts'
import { connect, engineOptions } from './connect.ts'

export const deployCommand: Command = {
  usage: '<file.yaml> [--override capacity] [--json] [--url URL] [--token TOKEN]',
  about:
    'Replaces the whole configuration by what a YAML or JSON file lists. What is the same in both keeps running.\n' +
    'A file named - is read from standard input.',

  async run(args, terminal) {
    const { values, positionals } = parse(
      args,
      { override: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions },
      ['file'],
    )
    const { override } = values
    if (override !== undefined && override !== 'capacity')
      throw new UsageError(`--override ${override} should be capacity`)
    const file = positionals[0]!
    const body = await deploymentIn(file)
    const deployed = await connect(values, terminal).deploy(body, { override })
    if (values.json) return json(terminal.out, deployed)
    const { sources, sinks, pipelines } = deployed
    terminal.out.write(
      `${styled(terminal.out, 'green', 'deployed')} ${basename(file)}: pipelines ${pipelines.length}, sources ${sources.length}, sinks ${sinks.length}\n`,
    )
  },
}

/** Throws an Error that names the file and the place in it that is at fault. */
async function deploymentIn(file: string) {
  const text = await read(file === '-' ? '/dev/stdin' : file)
  try {
    return parseAs(deployment, parseYaml(text.toString()))
  } catch (cause) {
    throw new Error(`${file} cannot be deployed: ${(cause as Error).message}`, { cause })
  }
}
