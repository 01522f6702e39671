import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECRET_VARIABLES, type SecretVariables } from '@eyrie/kit/secret-variables'

/** Files in the folder of secrets that are not named after a variable. */
const CERTIFICATE = 'tls.crt'
const CERTIFICATE_KEY = 'tls.key'
/** The file with the address of the video. */
const SOURCE = 'SOURCE'

/** What the operator puts into the folder of secrets. */
export interface GivenSecrets {
  /** Content of the files that are named after a variable. */
  secrets: SecretVariables
  /** Address of the video, if it contains a password. */
  source: string | undefined
  /** Paths of the certificate and its key. */
  certificate: { EYRIE_TLS_CERT: string; EYRIE_TLS_KEY: string } | undefined
}

const ACCEPTED_NAMES: readonly string[] = [
  ...SECRET_VARIABLES,
  SOURCE,
  CERTIFICATE,
  CERTIFICATE_KEY,
]
/** Hidden files, and Markdown files that explain the folder. */
const IGNORED_NAME = /^\.|\.md$/i

/**
 * Reads the secrets in a folder, each a file with the name of its variable. Throws an `Error` for a
 * name that nothing reads.
 */
export function readGivenSecrets(folder: string): GivenSecrets {
  const names = readdirSync(folder).filter(name => !IGNORED_NAME.test(name))
  const unknown = names.find(name => !ACCEPTED_NAMES.includes(name))
  if (unknown !== undefined) {
    throw new Error(
      `the folder of secrets contains ${unknown}, which nothing reads: name it ${ACCEPTED_NAMES.join(', ')}`,
    )
  }

  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  const variables = SECRET_VARIABLES.filter(name => names.includes(name))
  // If one of the two files is missing, reading the certificate later fails with its path.
  const hasCertificate = names.includes(CERTIFICATE) || names.includes(CERTIFICATE_KEY)
  return {
    secrets: Object.fromEntries(variables.map(name => [name, read(name)])),
    source: names.includes(SOURCE) ? read(SOURCE) : undefined,
    certificate: hasCertificate
      ? { EYRIE_TLS_CERT: join(folder, CERTIFICATE), EYRIE_TLS_KEY: join(folder, CERTIFICATE_KEY) }
      : undefined,
  }
}
