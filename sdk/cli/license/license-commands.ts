import { writeFile } from 'node:fs/promises'
import { generateIssuerKeys, type PoolEntry, readPool, signPool } from '@eyrie/license'
import { type Command, JSON_OPTION, parseArguments, requireOption } from '../command/command.ts'
import { readLocalFile, writeLocalFile } from '../command/local-files.ts'
import { writeJson, writeSuccess, writeTable } from '../command/terminal.ts'

/**
 * Commands for licenses. An issuer signs a list of licenses as a pool file. An engine that has the public key of the issuer
 * accepts every license in the pool file.
 */

/** `eyrie license keygen`: generates the key pair of an issuer. */
export const licenseKeygenCommand: Command = {
  usage: '<name>',
  about:
    'Generates the keys of a license issuer: <name>.key is secret and signs licenses, <name>.pub verifies them.',

  async run(args, { out }) {
    const { positionals } = parseArguments(args, {}, ['name'])
    const [name] = positionals
    const { privateKey, publicKey } = generateIssuerKeys()
    await writeNewFile(`${name}.key`, privateKey, SECRET_FILE_MODE)
    await writeNewFile(`${name}.pub`, publicKey, PUBLIC_FILE_MODE)
    writeSuccess(out, 'made', `${name}.key and ${name}.pub`)
  },
}

/** Only the owner may read a private key. */
const SECRET_FILE_MODE = 0o600
const PUBLIC_FILE_MODE = 0o644

/** Writes a key. Never overwrites a key, because licenses that were signed with it could no longer be renewed. */
async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  const failIfExists = 'wx'
  await writeFile(path, text, { mode, flag: failIfExists }).catch(cause => {
    throw new Error(`${path} cannot be created (${cause.code}): use another name`, { cause })
  })
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
