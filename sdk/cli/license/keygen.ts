import { writeFile } from 'node:fs/promises'
import { generateIssuerKeys } from '@eyrie/license'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { styled } from '../terminal.ts'

export const keygenCommand: Command = {
  usage: '<name>',
  about: 'Makes the keys of an issuer of licenses: <name>.key, which signs and stays secret, and <name>.pub.',

  async run(args, { out }) {
    const { positionals } = parse(args, {}, ['name'])
    const [name] = positionals
    const { privateKey, publicKey } = generateIssuerKeys()
    await create(`${name}.key`, privateKey, 0o600)
    await create(`${name}.pub`, publicKey, 0o644)
    out.write(`${styled(out, 'green', 'made')} ${name}.key and ${name}.pub\n`)
  },
}

/** A key that is there already is never overwritten: what it has signed could not be renewed. */
async function create(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { mode, flag: 'wx' }).catch(cause => {
    throw new Error(`${path} cannot be made (${cause.code}): use another name`, { cause })
  })
}
