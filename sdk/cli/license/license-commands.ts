import { generateIssuerKeys, type PoolEntry, readPool, signPool } from '@eyrie/license'
import { type Command, JSON_OPTION, parseArguments, requireOption } from '../command/command.ts'
import { writeKeyPair } from '../command/key-pair-files.ts'
import { readLocalFile, writeLocalFile } from '../command/local-files.ts'
import { writeJson, writeSuccess, writeTable } from '../command/terminal.ts'

/**
 * Commands for licenses. An issuer signs a list of licenses as a pool file. An engine that has the
 * public key of the issuer accepts every license in the pool file.
 */

/** `eyrie license keygen`: generates the key pair of an issuer. */
export const licenseKeygenCommand: Command = {
  usage: '<name>',
  about:
    'Generates the keys of a license issuer: <name>.key is secret and signs licenses, <name>.pub verifies them.',

  async run(args, { out }) {
    const { positionals } = parseArguments(args, {}, ['name'])
    const [name] = positionals
    const { privateFile, publicFile } = await writeKeyPair(name, generateIssuerKeys())
    writeSuccess(out, 'made', `${privateFile} and ${publicFile}`)
  },
}

/** `eyrie license sign`: signs a list of licenses. */
export const licenseSignCommand: Command = {
  usage: '<list.json> --key <issuer.key> --out <pool.json>',
  about:
    'Signs a list of licenses, [{"customer", "subscription", "pool", "until"?}, …], as a pool file for engines.\n' +
    'Name the pool file and the public key under engine.license_pool in eyrie.json.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, out: { type: 'string' } } as const
    const { values, positionals } = parseArguments(args, options, ['list'])
    const keyFile = requireOption('key', values.key)
    const poolFile = requireOption('out', values.out)
    const [listFile] = positionals
    await writeLocalFile(poolFile, await signList(listFile, keyFile))
    writeSuccess(out, 'signed', poolFile)
  },
}

async function signList(listFile: string, keyFile: string): Promise<string> {
  const list = await readLocalFile(listFile)
  const privateKey = await readLocalFile(keyFile)
  try {
    return signPool(JSON.parse(list.toString()), privateKey.toString())
  } catch (cause) {
    throw new Error(`${listFile} cannot be signed: ${(cause as Error).message}`, { cause })
  }
}

/** `eyrie license show`: verifies and prints a pool file. */
export const licenseShowCommand: Command = {
  usage: '<pool.json> --key <issuer.pub> [--json]',
  about: 'Verifies the signature of a pool file and lists its licenses.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, ...JSON_OPTION } as const
    const { values, positionals } = parseArguments(args, options, ['pool file'])
    const [poolFile] = positionals
    const entries = await readPoolFile(poolFile, requireOption('key', values.key))
    if (values.json) return writeJson(out, entries)

    const now = new Date()
    const rows = entries.map(({ customer, subscription, pool, until }) => [
      customer,
      subscription,
      pool,
      formatExpiry(until, now),
    ])
    writeTable(out, [['CUSTOMER', 'SUBSCRIPTION', 'POOL', 'UNTIL'], ...rows])
  },
}

async function readPoolFile(poolFile: string, keyFile: string): Promise<PoolEntry[]> {
  const pool = await readLocalFile(poolFile)
  const publicKey = await readLocalFile(keyFile)
  try {
    return readPool(pool.toString(), publicKey.toString())
  } catch (cause) {
    throw new Error(`${poolFile} is not valid: ${(cause as Error).message}`, { cause })
  }
}

function formatExpiry(until: string | undefined, now: Date): string {
  if (until === undefined) return 'for ever'
  return new Date(until) <= now ? `${until} (ended)` : until
}
