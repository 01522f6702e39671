import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createPublisher } from '../../test/fixtures/engine/signed-package.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { hashContent, hashPackage, type PackageFiles } from './package-files.ts'
import {
  findSignature,
  readSignature,
  SIGNATURE_FILE,
  signPackage,
  verifyFiles,
} from './package-signature.ts'
import { generatePublisherKeys, readPublicKey, readSigningKey } from './publisher-keys.ts'

const acme = createPublisher('Acme Vision')

const hash = (files: Record<string, string>): PackageFiles =>
  new Map(Object.entries(files).map(([path, content]) => [path, hashContent(Buffer.from(content))]))

const contents = {
  'plugin.json': '{}',
  'element.ts': 'export default {}',
  'lib/limit.ts': '3',
  'lib/ü.txt': '',
}
const files = hash(contents)
const signed = signPackage(files, acme)
const parsed = () => JSON.parse(signed)

/** Verifies a package as it is received: its files and its signature. */
function verify(received: PackageFiles, signature = signed) {
  const read = readSignature(signature)
  verifyFiles(read, received)
  return read
}

describe('the signature of a package', () => {
  it('names its publisher, and is valid for exactly the files that were signed', () => {
    expect(verify(files)).toMatchObject({ publisher: 'Acme Vision', key: acme.key })
    expect(
      verify(new Map([...files, [SIGNATURE_FILE, hashContent(Buffer.from(signed))]])),
    ).toBeDefined()
  })

  it('lists files in the order of their bytes, regardless of the order in which they were read', () => {
    const paths = ['\u{1f600}', '\ufb00', 'b', 'a/b', 'a', 'B']
    const content = signPackage(
      new Map(paths.map(path => [path, hashContent(Buffer.from(path))])),
      acme,
    )
    const listed = readSignature(content).files.map(({ path }) => path)
    expect(listed).toEqual(['B', 'a', 'a/b', 'b', '\ufb00', '\u{1f600}'])
  })

  it.each<[string, PackageFiles, string, string]>([
    [
      'changed',
      hash({ ...contents, 'element.ts': 'export default { }' }),
      'element.ts',
      'was changed',
    ],
    ['emptied', hash({ ...contents, 'lib/limit.ts': '' }), 'lib/limit.ts', 'was changed'],
    ['added', hash({ ...contents, 'lib/new.ts': '' }), 'lib/new.ts', 'was added'],
    [
      'added in a folder as a signature',
      hash({ ...contents, 'lib/signature.json': '' }),
      'lib/signature.json',
      'was added',
    ],
    [
      'removed',
      new Map([...files].filter(([path]) => path !== 'lib/limit.ts')),
      'lib/limit.ts',
      'was removed',
    ],
    [
      'renamed',
      new Map([...files].map(([path, sha256]) => [path.replace('limit', 'Limit'), sha256])),
      'lib/limit.ts',
      'was removed',
    ],
    [
      'exchanged with another one',
      new Map([
        ...files,
        ['element.ts', files.get('lib/limit.ts')!],
        ['lib/limit.ts', files.get('element.ts')!],
      ]),
      'element.ts',
      'was changed',
    ],
  ])('is refused with the name of a file that was %s', (_, received, file, problem) => {
    expect(() => verify(received)).toThrow(`"${file}" ${problem} after the package was signed`)
    expect(() => verify(received)).toThrow(
      expect.objectContaining({ name: 'PackageSignatureError', file }),
    )
  })

  it('is refused after a change of any of its bytes', () => {
    const bytes = Buffer.from(signed)
    const accepted: string[] = []
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes)
      changed[i] = changed[i]! ^ 1
      try {
        accepted.push(JSON.stringify(verify(files, changed.toString())))
      } catch {}
    }
    // The line breaks and spaces around the values are no part of the content.
    expect(accepted.filter(content => content !== JSON.stringify(parsed()))).toEqual([])
  })

  it('is refused if it is truncated at any byte', () => {
    const end = signed.trimEnd().length
    for (let length = 0; length < end; length += 1) {
      expect(() => readSignature(signed.slice(0, length))).toThrow(
        /signature\.json is not valid JSON/,
      )
    }
  })

  it('is refused if it is that of another package, or of another version', () => {
    const other = signPackage(hash({ ...contents, 'plugin.json': '{"version":"2.0.0"}' }), acme)
    expect(() => verify(files, other)).toThrow('"plugin.json" was changed')
  })

  it('is refused if another key has signed, or the name of the publisher was replaced', () => {
    const forged = /does not match its list of files and its key/
    const other = createPublisher('Acme Vision')
    expect(() => readSignature(JSON.stringify({ ...parsed(), key: other.key }))).toThrow(forged)
    expect(() => readSignature(JSON.stringify({ ...parsed(), publisher: 'Acme' }))).toThrow(forged)
    const { signature } = JSON.parse(signPackage(files, other))
    expect(() => readSignature(JSON.stringify({ ...parsed(), signature }))).toThrow(forged)
    // Signatures of the same key for anything else.
    const license = sign(
      null,
      Buffer.from(JSON.stringify(parsed().files)),
      acme.privateKey,
    ).toString('hex')
    expect(() => readSignature(JSON.stringify({ ...parsed(), signature: license }))).toThrow(forged)
  })

  it.each<[string, object, RegExp]>([
    ['unsorted', { files: parsed().files.toReversed() }, /\/files: must be sorted/],
    ['ambiguous', { files: [parsed().files[0], ...parsed().files] }, /\/files: must be sorted/],
    ['empty', { files: [] }, /\/files: /],
    ['not a list', { files: { 'plugin.json': '' } }, /\/files: /],
  ])('is refused if its list is %s', (_, change, reason) => {
    expect(() => readSignature(JSON.stringify({ ...parsed(), ...change }))).toThrow(reason)
  })

  it.each<[string, object, string]>([
    ['of another format', { format: 2 }, 'signature.json/format: '],
    ['with unknown fields', { expires: 'never' }, 'signature.json/expires: unknown field'],
    [
      'with a short key',
      { key: acme.key.slice(2) },
      'signature.json/key: must be an Ed25519 public key',
    ],
    ['with a key that is no point', { key: 'f'.repeat(64) }, 'does not match'],
    ['with a key in capitals', { key: acme.key.toUpperCase() }, 'signature.json/key: '],
    ['with a name of two lines', { publisher: 'Acme\nVision' }, 'signature.json/publisher: '],
    [
      'with a hidden character in the name',
      { publisher: 'Acme\u202e' },
      'signature.json/publisher: ',
    ],
    ['with two spaces in the name', { publisher: 'Acme  Vision' }, 'signature.json/publisher: '],
    ['with a short signature', { signature: '00' }, 'signature.json/signature: '],
    ['without a signature', { signature: undefined }, 'signature.json/signature: is required'],
  ])('is refused %s', (_, change, reason) => {
    expect(() => readSignature(JSON.stringify({ ...parsed(), ...change }))).toThrow(reason)
  })

  it('cannot be made for a path that would end its line in the signed text', () => {
    expect(() => signPackage(hash({ 'a\nb': '' }), acme)).toThrow(
      '/files/0/path: must not contain control',
    )
    expect(() => signPackage(new Map(), acme)).toThrow('/files: ')
  })
})

describe('the folder of a package', () => {
  it('is hashed with all its files, hidden ones included', async () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'lib/empty'), { recursive: true })
    for (const [path, content] of Object.entries({ ...contents, '.hidden': '' })) {
      writeFileSync(join(folder, path), content)
    }
    const found = await hashPackage(folder)
    expect(new Map([...found].toSorted())).toEqual(
      new Map([...hash({ ...contents, '.hidden': '' })].toSorted()),
    )
    expect(findSignature(folder)).toBeUndefined()
    writeFileSync(join(folder, SIGNATURE_FILE), signed)
    expect(() => verifyFiles(findSignature(folder)!, found)).toThrow('".hidden" was added')
  })

  it('is refused if it contains a link, even to the same content', async () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'plugin.json'), '{}')
    symlinkSync('plugin.json', join(folder, 'element.ts'))
    await expect(hashPackage(folder)).rejects.toThrow('"element.ts" is a link')
  })

  it('is refused if its signature is no file, or too large', () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, SIGNATURE_FILE), ' '.repeat((2 << 20) + 1))
    expect(() => findSignature(folder)).toThrow(/signature\.json cannot be read: it has \d+ bytes/)
    const other = createTemporaryFolder()
    mkdirSync(join(other, SIGNATURE_FILE))
    expect(() => findSignature(other)).toThrow('signature.json cannot be read')
  })
})

describe('the keys of a publisher', () => {
  it('are files from which the same key is read', () => {
    const keys = generatePublisherKeys('Acme Vision')
    const { publisher, key } = readSigningKey(keys.privateKey)
    expect(readPublicKey(keys.publicKey)).toEqual({ publisher, key })
    expect(generatePublisherKeys('Acme Vision').privateKey).not.toBe(keys.privateKey)
  })

  it.each(['', ' Acme', 'Acme\tVision', 'a'.repeat(101), '\ud800'])(
    'have no publisher %j',
    name => {
      expect(() => generatePublisherKeys(name)).toThrow()
    },
  )

  it.each(['\u3164', '\ufe0f', '\u034f', '\u2800', '\u{e0041}'])(
    'have no publisher with the invisible character %j, who would look like another one',
    character => {
      expect(() => generatePublisherKeys(`Acme${character}`)).toThrow('visible characters')
    },
  )

  it('have publishers of all scripts', () => {
    const name = 'Zoë 視覺 दृष्टि 😀'
    expect(readSigningKey(generatePublisherKeys(name).privateKey).publisher).toBe(name)
  })

  it('are rejected if they are damaged or of another type, without a word of their content', () => {
    const { privateKey } = generatePublisherKeys('Acme')
    const secret = privateKey.split('\\n')[1]!
    const reasonOf = (text: string) => {
      try {
        return String(readSigningKey(text))
      } catch (error) {
        return (error as Error).message
      }
    }
    const ec = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    for (const text of [
      privateKey.slice(0, -10),
      privateKey.replace('BEGIN', 'BEGUN'),
      secret,
      JSON.stringify({ publisher: 'Acme', private_key: ec.privateKey }),
    ]) {
      expect(reasonOf(text)).toMatch(/not a private key file|must be an Ed25519 private key/)
      expect(reasonOf(text)).not.toContain(secret)
    }
    expect(() => readPublicKey(privateKey)).toThrow('/key: is required')
  })
})
