import { writeFile } from 'node:fs/promises'
import { generateIssuerKeys, type PoolEntry, readPool, signPool } from '@eyrie/license'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { readLocalFile, writeLocalFile } from '../command/local-files.ts'
import { formatTable, styled, writeJson } from '../command/terminal.ts'

export const licenseKeygenCommand: Command = {
  usage: '<name>',
  about:
    'Generates the keys of a license issuer: <name>.key is secret and signs licenses, <name>.pub verifies them.',

  async run(args, { out }) {
    const { positionals } = parseArguments(args, {}, ['name'])
    const [name] = positionals
    const { privateKey, publicKey } = generateIssuerKeys()
    await writeNewFile(`${name}.key`, privateKey, 0o600)
    await writeNewFile(`${name}.pub`, publicKey, 0o644)
    out.write(`${styled(out, 'green', 'made')} ${name}.key and ${name}.pub\n`)
  },
}

/** Never overwrites a key: licenses signed with it could no longer be renewed. */
async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { mode, flag: 'wx' }).catch(cause => {
    throw new Error(`${path} cannot be created (${cause.code}): use another name`, { cause })
  })
}

export const licenseSignCommand: Command = {
  usage: '<list.json> --key <issuer.key> --out <pool.json>',
  about:
    'Signs a list of licenses, [{"customer", "subscription", "pool", "until"?}, …], as a pool file for engines.\n' +
    'Name the pool file and the public key under engine.license_pool in eyrie.json.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, out: { type: 'string' } } as const
    const { values, positionals } = parseArguments(args, options, ['list'])
    if (!values.key) throw new UsageError('--key is missing')
    if (!values.out) throw new UsageError('--out is missing')
    const list = positionals[0]!
    const text = await readLocalFile(list)
    const key = await readLocalFile(values.key)
    await writeLocalFile(values.out, sign(list, text.toString(), key.toString()))
    out.write(`${styled(out, 'green', 'signed')} ${values.out}\n`)
  },
}

function sign(list: string, text: string, key: string): string {
  try {
    return signPool(JSON.parse(text), key)
  } catch (cause) {
    throw new Error(`${list} cannot be signed: ${(cause as Error).message}`, { cause })
  }
}

export const licenseShowCommand: Command = {
  usage: '<pool.json> --key <issuer.pub> [--json]',
  about: 'Verifies the signature of a pool file and lists its licenses.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, json: { type: 'boolean' } } as const
    const { values, positionals } = parseArguments(args, options, ['pool file'])
    if (!values.key) throw new UsageError('--key is missing')
    const entries = await readPoolFile(positionals[0]!, values.key)
    if (values.json) return writeJson(out, entries)
    const now = new Date()
    const rows = entries.map(entry => toRow(entry, now))
    out.write(formatTable([['CUSTOMER', 'SUBSCRIPTION', 'POOL', 'UNTIL'], ...rows]))
  },
}

async function readPoolFile(file: string, keyFile: string): Promise<PoolEntry[]> {
  const text = await readLocalFile(file)
  const key = await readLocalFile(keyFile)
  try {
    return readPool(text.toString(), key.toString())
  } catch (cause) {
    throw new Error(`${file} is not valid: ${(cause as Error).message}`, { cause })
  }
}

function toRow({ customer, subscription, pool, until }: PoolEntry, now: Date): string[] {
  const isExpired = until !== undefined && new Date(until) <= now
  return [customer, subscription, pool, `${until ?? 'for ever'}${isExpired ? ' (ended)' : ''}`]
}
