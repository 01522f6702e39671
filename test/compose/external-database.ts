import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import { connect } from '../../services/management/db/connection.ts'
import { signIn } from './console.ts'
import { joinServices } from './peers/peer.ts'
import { createStack } from './stack.ts'

const OVERRIDE = 'compose.yaml:appliance/docker/external-database.yaml'
const NAME = 'postgres'
const PASSWORD = 'postgres-secret'
const PASSWORD_FILE = '/run/eyrie/credentials/password'

/** Starts management with a Postgres that is not a service of compose.yaml, and signs in. */
export async function useExternalDatabase(version: string): Promise<string> {
  const stack = await createStack({ version, variables: { COMPOSE_FILE: OVERRIDE } })
  try {
    // Creates the network.
    await stack.compose('create', '--no-build', 'init')
    const database = await joinServices(
      new PostgreSqlContainer(`eyrie/database:${version}`),
      stack,
      NAME,
    )
      .withDatabase('eyrie')
      .withUsername('eyrie')
      .withPassword(PASSWORD)
      .withEnvironment({ POSTGRES_PASSWORD_FILE: PASSWORD_FILE })
      .withCopyContentToContainer([{ content: PASSWORD, target: PASSWORD_FILE }])
      .withTmpFs({ '/var/run/postgresql': 'uid=10005,gid=10000,mode=0750' })
      .start()
    const url = `postgres://eyrie:${PASSWORD}@${NAME}:5432/eyrie`
    writeFileSync(join(stack.folder, 'secrets/DATABASE_URL'), `${url}\n`)
    await stack.compose('run', '--rm', 'init')
    await stack.compose('up', '--detach', '--no-build', '--no-deps', '--wait', 'management')
    await signIn(stack)

    const sql = connect(database.getConnectionUri())
    const connections =
      await sql`select from pg_stat_activity where application_name = 'eyrie-management'`
    await sql.end()
    assert(connections.length > 0, 'management is not connected to the Postgres')
    const services = (await stack.listRunning()).map(({ service }) => service)
    assert.deepEqual(services, ['management'])
    return `management has ${connections.length} connections to it`
  } finally {
    await stack.remove()
  }
}
