import assert from 'node:assert/strict'
import { createStack } from './stack.ts'
import { waitUntil } from './wait-until.ts'

const OVERRIDE = 'compose.yaml:test/compose/small-disk.yaml'

/** Fills the disk of the data folder of a stack of its own, and frees it again. */
export async function fullDisk(version: string): Promise<string> {
  const stack = await createStack({ version, variables: { COMPOSE_FILE: OVERRIDE } })
  const readStatus = () => stack.compose('run', '--rm', '-T', 'cli', 'status').catch(String)
  try {
    await stack.compose('up', '--detach', '--no-build', '--wait', 'engine', 'management')
    await stack.compose(
      ...['exec', '-T', 'engine', 'bash', '-c'],
      'head -c 1G /dev/zero >/var/lib/eyrie/engine/filler || true',
    )
    await waitUntil('alarm', async () => assert.match(await readStatus(), /nothing can be stored/))
    await stack.compose('exec', '-T', 'engine', 'rm', '/var/lib/eyrie/engine/filler')
    await waitUntil('end of the alarm', async () =>
      assert.doesNotMatch(await readStatus(), /nothing can be stored/),
    )
    return 'reported, and over when space is free'
  } finally {
    await stack.remove()
  }
}
