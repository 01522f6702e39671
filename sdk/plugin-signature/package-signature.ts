import { sign, verify } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { publisherKey, publisherName } from '@eyrie/contract/plugin-signature'
import { z } from 'zod'
import type { PackageFiles } from './package-files.ts'
import { type PublicKey, type SigningKey, toVerifyingKey } from './publisher-keys.ts'

/**
 * The signature of a plugin package: a file in the package that lists all other files with their
 * SHA-256, and the Ed25519 signature (RFC 8032) of this list and of the name of the publisher.
 */

/** Path of the signature in a package. */
export const SIGNATURE_FILE = 'signature.json'

const MAX_SIGNATURE_FILE_BYTES = 2 << 20
const MAX_PATH_LENGTH = 200
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line break in a path would end its line in the signed text
const SIGNABLE_PATH = /^[^\u0000-\u001f\u007f\\]+$/

const signedFile = z.strictObject({
  path: z
    .string()
    .max(MAX_PATH_LENGTH)
    .regex(SIGNABLE_PATH, 'must not contain control characters or backslashes')
    .refine(path => path !== SIGNATURE_FILE, 'must not be the signature itself'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
})
type SignedFile = z.infer<typeof signedFile>

/** The content of the signature file. `files` are sorted by `comparePaths`. */
const packageSignature = z.strictObject({
  format: z.literal(1),
  publisher: publisherName,
  key: publisherKey,
  files: z.array(signedFile).min(1),
  signature: z.string().regex(/^[0-9a-f]{128}$/, 'must be an Ed25519 signature in hexadecimal'),
})

/**
 * A genuine signature of a list of files. Whether the files of a package match the list is not
 * known before `verifyFiles`.
 */
export type PackageSignature = z.infer<typeof packageSignature>

/** The signature of a package is present, but wrong. */
export class PackageSignatureError extends Error {
  override readonly name = 'PackageSignatureError'
  /** The file that was changed, added or removed; undefined if the signature itself is wrong. */
  readonly file: string | undefined

  constructor(message: string, options: ErrorOptions & { file?: string } = {}) {
    super(message, options)
    this.file = options.file
  }
}

/**
 * Signs a package. Returns the content of its signature file. Throws an `Error` if a path is
 * invalid.
 */
export function signPackage(
  files: PackageFiles,
  { publisher, key, privateKey }: SigningKey,
): string {
  const signedFiles = toSignedFiles(files)
  const signature = sign(null, createSignedText(publisher, signedFiles), privateKey).toString('hex')
  const content = { format: 1, publisher, key, files: signedFiles, signature }
  return `${JSON.stringify(parseAs(packageSignature, content), null, 2)}\n`
}

/**
 * Reads the content of a signature file. Throws `PackageSignatureError` if it is
 * malformed or forged.
 */
export function readSignature(text: string): PackageSignature {
  const content = parseSignature(text)
  if (!isStrictlySorted(content.files)) {
    throw new PackageSignatureError(
      `${SIGNATURE_FILE}: /files: must be sorted by path and contain each path once: sign the package again`,
    )
  }
  if (isGenuine(content)) return content
  const problem = `the signature in ${SIGNATURE_FILE} does not match its list of files and its key`
  throw new PackageSignatureError(
    `${problem}: the file was changed or forged. Get the package from its publisher again`,
  )
}

/** Whether each path is greater than the previous one, so that no path occurs twice. */
const isStrictlySorted = (files: readonly SignedFile[]): boolean =>
  files.slice(1).every((file, i) => comparePaths(files[i]!.path, file.path) < 0)

function isGenuine({ publisher, key, files, signature }: PackageSignature): boolean {
  const text = createSignedText(publisher, files)
  // Ed25519 has no choice of a hash algorithm, so the first argument is null.
  return verify(null, text, toVerifyingKey(key), Buffer.from(signature, 'hex'))
}

/**
 * Compares the files of a package with the signed list. Throws `PackageSignatureError` with the
 * name of the first file that was changed, added or removed after the package was signed.
 */
export function verifyFiles({ files: signedFiles }: PackageSignature, files: PackageFiles): void {
  const fail = (path: string, problem: string): never => {
    throw new PackageSignatureError(
      `${JSON.stringify(path)} ${problem} after the package was signed: get the package from its publisher again, or sign it again`,
      { file: path },
    )
  }
  for (const { path, sha256 } of signedFiles) {
    const actualSha256 = files.get(path)
    if (actualSha256 === undefined) fail(path, 'was removed')
    if (actualSha256 !== sha256) fail(path, 'was changed')
  }
  const signedPaths = new Set(signedFiles.map(({ path }) => path))
  for (const path of files.keys()) {
    if (path !== SIGNATURE_FILE && !signedPaths.has(path)) fail(path, 'was added')
  }
}

/**
 * Reads the signature in the folder of an unpacked package. Returns undefined if the
 * package is not signed.
 */
export function findSignature(folder: string): PackageSignature | undefined {
  const file = join(folder, SIGNATURE_FILE)
  if (!existsSync(file)) return undefined
  return readSignature(readSignatureFile(file))
}

/** Returns the key with which a package was signed. */
export const toPublicKey = ({ publisher, key }: PackageSignature): PublicKey => ({ publisher, key })

/**
 * The text that is signed. No part of it can contain a line break, so that different packages have
 * different texts. Its first line ensures that the signature is not valid for anything else.
 */
const createSignedText = (publisher: string, files: readonly SignedFile[]): Buffer =>
  Buffer.from(
    [
      'eyrie-plugin-package 1',
      `publisher ${publisher}`,
      ...files.map(({ path, sha256 }) => `${sha256} ${path}`),
      '',
    ].join('\n'),
  )

function toSignedFiles(files: PackageFiles): SignedFile[] {
  return [...files]
    .filter(([path]) => path !== SIGNATURE_FILE)
    .map(([path, sha256]) => ({ path, sha256 }))
    .sort((a, b) => comparePaths(a.path, b.path))
}

/** Compares the bytes in UTF-8: the result is the same in all programming languages. */
const comparePaths = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function parseSignature(text: string): PackageSignature {
  try {
    return parseAs(packageSignature, JSON.parse(text), SIGNATURE_FILE)
  } catch (cause) {
    const reason =
      cause instanceof SyntaxError
        ? `${SIGNATURE_FILE} is not valid JSON`
        : (cause as Error).message
    throw new PackageSignatureError(`${reason}: get the package from its publisher again`, {
      cause,
    })
  }
}

function readSignatureFile(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > MAX_SIGNATURE_FILE_BYTES) {
      throw new Error(`it has ${size} bytes, more than the maximum of ${MAX_SIGNATURE_FILE_BYTES}`)
    }
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { message } = cause as Error
    throw new PackageSignatureError(`${SIGNATURE_FILE} cannot be read: ${message}`, { cause })
  }
}
