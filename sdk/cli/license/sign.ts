import { signPool } from '@eyrie/license'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { read } from '../read.ts'
import { styled, UsageError } from '../terminal.ts'
import { write } from '../write.ts'

export const signCommand: Command = {
  usage: '<list.json> --key <issuer.key> --out <pool.json>',
  about:
    'Signs a list of licenses, [{"customer", "subscription", "pool", "until"?}, …], as a pool file for engines.\nTheir eyrie.json names the file and the public key under engine.license_pool.',

  async run(args, { out }) {
    const { values, positionals } = parse(args, { key: { type: 'string' }, out: { type: 'string' } }, [
      'list',
    ])
    if (!values.key) throw new UsageError('--key is missing')
    if (!values.out) throw new UsageError('--out is missing')
    const list = positionals[0]!
    const text = await read(list)
    const key = await read(values.key)
    await write(values.out, signed(list, text.toString(), key.toString()))
    out.write(`${styled(out, 'green', 'signed')} ${values.out}\n`)
  },
}

function signed(list: string, text: string, key: string): string {
  try {
    return signPool(JSON.parse(text), key)
  } catch (cause) {
    throw new Error(`${list} cannot be signed: ${(cause as Error).message}`, { cause })
  }
}
