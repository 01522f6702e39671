import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, styled } from '../terminal.ts'
import { upkeep } from './run.ts'

interface Finding {
  says: string
  what: string
  remedy: string
}

export const checkCommand: Command = {
  usage: '[--json]',
  about:
    'Looks for what is not as it should be in the database and the files that belong to it, and says what to do.\n' +
    'Changes nothing; Eyrie may be running.',

  async run(args, terminal) {
    const { values } = parse(args, { json: { type: 'boolean' } }, [])
    const findings = await upkeep<Finding[]>(['check'], terminal)
    if (values.json) json(terminal.out, findings)
    else
      for (const { says, what, remedy } of findings)
        terminal.out.write(`${styled(terminal.out, 'red', 'not so:')} ${says}\n  ${what}\n  ${remedy}\n`)
    if (findings.length > 0) throw new Error(`${findings.length} findings`)
    if (!values.json) terminal.out.write(`${styled(terminal.out, 'green', 'all is well')}\n`)
  },
}
