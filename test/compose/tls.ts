import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCertificate } from '../fixtures/network/certificate.ts'
import { readSecureStatus } from '../fixtures/network/secure-status.ts'
import { createStack } from './stack.ts'

const NAME = 'eyrie.test'

/**
 * Starts management with a certificate from files, and reads its health from outside and
 * by the command line.
 */
export async function serveTls(version: string): Promise<string> {
  const stack = await createStack({ version, variables: { EYRIE_TLS_HOST: NAME } })
  const start = (...services: string[]) =>
    stack.compose('up', '--detach', '--no-build', '--no-deps', '--wait', ...services)
  try {
    const { cert, key } = createCertificate(stack.folder, NAME)
    copyFileSync(cert, join(stack.folder, 'secrets/tls.crt'))
    await assert.rejects(stack.compose('run', '--rm', 'init'), /tls\.key/)
    copyFileSync(key, join(stack.folder, 'secrets/tls.key'))
    await stack.compose('run', '--rm', 'init')
    await start('database')
    // Healthy: the check in the container speaks TLS, too.
    await start('management')

    const ca = readFileSync(cert, 'utf8')
    const port = Number(stack.variables.EYRIE_PORT)
    assert.equal(await readSecureStatus({ port, servername: NAME, ca }), 200)
    await assert.rejects(readSecureStatus({ port, servername: NAME }), /self-signed certificate/)
    await assert.rejects(fetch(`${stack.url}/health`))
    // The command line asks management, and trusts its certificate.
    await stack.compose('run', '--rm', '-T', '--no-deps', 'cli', 'placement')
    return 'management is healthy, and speaks TLS only'
  } finally {
    await stack.remove()
  }
}
