import { type PoolEntry, readPool } from '@eyrie/license'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { read } from '../read.ts'
import { table, UsageError } from '../terminal.ts'

export const showCommand: Command = {
  usage: '<pool.json> --key <issuer.pub> [--json]',
  about: 'Checks the signature of a pool file and lists its licenses.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, json: { type: 'boolean' } } as const
    const { values, positionals } = parse(args, options, ['pool file'])
    if (!values.key) throw new UsageError('--key is missing')
    const entries = await entriesOf(positionals[0]!, values.key)
    if (values.json) out.write(`${JSON.stringify(entries, null, 2)}\n`)
    else out.write(table([['CUSTOMER', 'SUBSCRIPTION', 'POOL', 'UNTIL'], ...entries.map(row(new Date()))]))
  },
}

async function entriesOf(file: string, keyFile: string): Promise<PoolEntry[]> {
  const text = await read(file)
  const key = await read(keyFile)
  try {
    return readPool(text.toString(), key.toString())
  } catch (cause) {
    throw new Error(`${file} is not valid: ${(cause as Error).message}`, { cause })
  }
}

const row =
  (now: Date) =>
  ({ customer, subscription, pool, until }: PoolEntry): string[] => {
    const hasEnded = until !== undefined && new Date(until) <= now
    return [customer, subscription, pool, `${until ?? 'for ever'}${hasEnded ? ' (ended)' : ''}`]
  }
