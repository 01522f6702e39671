import { closeSync, readFileSync } from 'node:fs'
import { z } from 'zod'

/**
 * Environment variables that contain a secret. The certificate is passed together with its key.
 * Variables that end in `_FILE` are not among them, because they contain only the path of a secret.
 */
export const SECRET_VARIABLES = [
  'EYRIE_ENGINE_TOKENS',
  'EYRIE_ENGINE_TOKEN_DIGESTS',
  'EYRIE_PLUGIN_TOKENS',
  'EYRIE_INTERNAL_TOKEN',
  'EYRIE_SCHEDULER_TOKEN',
  'EYRIE_JOIN_TOKEN',
  'EYRIE_ADMIN_PASSWORD',
  'EYRIE_TLS_CERT_PEM',
  'EYRIE_TLS_KEY_PEM',
  'DATABASE_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
] as const

const secretVariables = z.partialRecord(z.enum(SECRET_VARIABLES), z.string())
/** Values of secret variables. */
export type SecretVariables = z.infer<typeof secretVariables>

/**
 * Returns the secret variables and removes them from `variables`, so that child processes do not
 * inherit them. The supervisor passes secrets through a pipe, because other processes can read the
 * environment with which a process was started. The descriptor of the pipe is in
 * `EYRIE_SECRETS_FD`. Throws an `Error` if the pipe does not contain a JSON object of variables.
 */
export function extractSecrets(variables: NodeJS.ProcessEnv): SecretVariables {
  const { EYRIE_SECRETS_FD } = variables
  const secrets: SecretVariables = {}
  for (const name of SECRET_VARIABLES) {
    if (variables[name]) secrets[name] = variables[name]
    delete variables[name]
  }
  delete variables.EYRIE_SECRETS_FD
  return { ...secrets, ...(EYRIE_SECRETS_FD && readDescriptor(EYRIE_SECRETS_FD)) }
}

function readDescriptor(text: string): SecretVariables {
  const descriptor = z.coerce.number().int().min(3).safeParse(text)
  if (!descriptor.success) {
    throw new Error(`EYRIE_SECRETS_FD is not valid: ${text} is not a descriptor`)
  }
  try {
    return secretVariables.parse(JSON.parse(readFileSync(descriptor.data, 'utf8')))
  } catch {
    // Without the cause, whose message may contain the content.
    throw new Error(
      `EYRIE_SECRETS_FD is not valid: descriptor ${text} must be open, and contain an object of variables as JSON`,
    )
  } finally {
    closeSync(descriptor.data)
  }
}
