import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECRET_VARIABLES, type SecretVariables } from '@eyrie/kit/secret-variables'

/** Files that are not named after a variable. */
export const CERTIFICATE = 'tls.crt'
export const CERTIFICATE_KEY = 'tls.key'

/** What the operator puts into the folder of secrets. */
export interface GivenSecrets {
  /** Content of the files that are named after a variable. */
  secrets: SecretVariables
  /** Address of the video, if it contains a password. */
  source: string | undefined
  /** Paths of the certificate and its key. */
  certificate: { EYRIE_TLS_CERT: string; EYRIE_TLS_KEY: string } | undefined
}

/** Files that explain the folder. */
const IGNORED = /^\.|\.md$/i

/**
 * Reads the secrets in a folder, each a file with the name of its variable. Throws an `Error` for a
 * name that nothing reads.
 */
export function readGivenSecrets(folder: string): GivenSecrets {
  const names = readdirSync(folder).filter(name => !IGNORED.test(name))
  const known = new Set<string>([...SECRET_VARIABLES, 'SOURCE', CERTIFICATE, CERTIFICATE_KEY])
  const unknown = names.find(name => !known.has(name))
  if (unknown !== undefined) {
    throw new Error(
      `the folder of secrets contains ${unknown}, which nothing reads: name it ${[...known].join(', ')}`,
    )
  }

  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  const present = new Set(names)
  const hasCertificate = present.has(CERTIFICATE) || present.has(CERTIFICATE_KEY)
  return {
    secrets: Object.fromEntries(
      SECRET_VARIABLES.filter(name => present.has(name)).map(name => [name, read(name)]),
    ),
    source: present.has('SOURCE') ? read('SOURCE') : undefined,
    certificate: hasCertificate
      ? { EYRIE_TLS_CERT: join(folder, CERTIFICATE), EYRIE_TLS_KEY: join(folder, CERTIFICATE_KEY) }
      : undefined,
  }
}
