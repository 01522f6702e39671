import { join } from 'node:path'
import { SIGNATURE_FILE } from '@eyrie/plugin-signature/package-signature'
import {
  generatePublisherKeys,
  readPublicKey,
  readSigningKey,
} from '@eyrie/plugin-signature/publisher-keys'
import { type Command, JSON_OPTION, parseArguments, requireOption } from '../command/command.ts'
import { writeKeyPair } from '../command/key-pair-files.ts'
import { replaceLocalFile, writeLocalFile } from '../command/local-files.ts'
import { writeJson, writeSuccess } from '../command/terminal.ts'
import { readKeyFile } from './key-files.ts'
import { addSignature, signFiles, verifySignature } from './package-signing.ts'
import { packFiles } from './plugin-archive.ts'
import { readPluginFiles } from './plugin-files.ts'

/**
 * Commands for publishers of plugins, which need no engine. A signed package contains its
 * signature, so that it can be distributed in any way.
 */

/** `eyrie plugin keygen`: generates the key pair of a publisher. */
export const pluginKeygenCommand: Command = {
  usage: '<name> --publisher <name>',
  about:
    'Generates the keys of a publisher of plugins: <name>.key is secret and signs packages; owners of engines trust\n' +
    'the publisher with <name>.pub.',

  async run(args, { out }) {
    const { values, positionals } = parseArguments(args, { publisher: { type: 'string' } }, [
      'name',
    ])
    const [name] = positionals
    const keys = generateKeys(requireOption('publisher', values.publisher))
    const { privateFile, publicFile } = await writeKeyPair(name, keys)
    writeSuccess(out, 'made', `${privateFile} and ${publicFile}`)
    out.write(`key ${readPublicKey(keys.publicKey).key}\n`)
  },
}

function generateKeys(publisher: string) {
  try {
    return generatePublisherKeys(publisher)
  } catch (cause) {
    throw new Error(`--publisher ${publisher} ${(cause as Error).message}`, { cause })
  }
}

/** `eyrie plugin sign`: signs a plugin. */
export const signPluginCommand: Command = {
  usage: '<folder|file.tgz> --key <publisher.key> [--out file.tgz]',
  about:
    `Signs all files of a plugin. Writes ${SIGNATURE_FILE} into the folder or into the archive; the signed archive replaces\n` +
    'the old one unless --out names another file.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, out: { type: 'string' } } as const
    const { values, positionals } = parseArguments(args, options, ['folder or package'])
    const [path] = positionals
    const key = await readKeyFile(requireOption('key', values.key), readSigningKey)
    const { manifest, files, isFolder } = await readPluginFiles(path)
    const signature = signFiles(path, files, key)

    if (isFolder) await writeLocalFile(join(path, SIGNATURE_FILE), signature)
    if (values.out !== undefined || !isFolder) {
      const archive = await packFiles(addSignature(files, signature))
      if (values.out === undefined) await replaceLocalFile(path, archive)
      else await writeLocalFile(values.out, archive)
    }
    const { name, version } = manifest
    writeSuccess(out, 'signed', `${name} ${version} as ${key.publisher}: ${values.out ?? path}`)
  },
}

/** `eyrie plugin verify`: verifies the signature of a plugin. */
export const verifyPluginCommand: Command = {
  usage: '<folder|file.tgz> [--key <publisher.pub>] [--json]',
  about:
    'Verifies that a plugin is signed and was not changed since, and prints its publisher. With --key, it must be signed\n' +
    'by this publisher.',

  async run(args, { out }) {
    const options = { key: { type: 'string' }, ...JSON_OPTION } as const
    const { values, positionals } = parseArguments(args, options, ['folder or package'])
    const [path] = positionals
    const expected =
      values.key === undefined ? undefined : await readKeyFile(values.key, readPublicKey)
    const { manifest, files } = await readPluginFiles(path)
    const { publisher, key } = verifySignature(path, files)
    if (expected && expected.key !== key) {
      throw new Error(
        `${path} is signed with the key ${key} of ${JSON.stringify(publisher)}, not with that of ${expected.publisher}`,
      )
    }

    const { name, version } = manifest
    if (values.json) return writeJson(out, { name, version, publisher, key })
    writeSuccess(out, 'verified', `${name} ${version}, signed by ${publisher}`)
    out.write(`key ${key}\n`)
    if (!expected) {
      out.write('Anyone can use this name: compare the key, or name the publisher with --key.\n')
    }
  },
}
