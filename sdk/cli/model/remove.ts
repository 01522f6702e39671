import { join } from 'node:path'
import { removeModel } from '@eyrie/model-store'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { styled } from '../terminal.ts'

export const removeCommand: Command = {
  usage: '<name>',
  about: 'Removes a model that was added. Pipelines that use it fail until it is added again.',

  async run(args, { data, out }) {
    const { positionals } = parse(args, {}, ['name'])
    await removeModel(join(data, 'models'), positionals[0]!)
    out.write(`${styled(out, 'green', 'removed')} ${positionals[0]}\n`)
  },
}
