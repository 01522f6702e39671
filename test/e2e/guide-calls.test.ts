import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { installedProgram } from '../fixtures/requirements/installed-program.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const SCRIPT_TIMEOUT_MS = 240_000
/** Length of the quoted output of a script that has failed. */
const MAX_QUOTED_LENGTH = 2000

let appliance: Appliance
beforeAll(async () => {
  appliance = await startAppliance({ source: SMALL_PICTURE })
  // The guide reads the default elements of a usecase, which come from the engine.
  await appliance.waitForLine(/engine connected/)
}, 180_000)
afterAll(() => appliance.remove())

/** Returns the contents of the shell blocks of a document, without their indentation. */
function readShellBlocks(document: string): string[] {
  const blocks = readFileSync(join(root, document), 'utf8').matchAll(
    /^( *)```sh\n([\s\S]*?)^\1```$/gm,
  )
  return Array.from(blocks, ([, indentation = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  )
}

const findBlock = (document: string, text: string) =>
  readShellBlocks(document).find(block => block.includes(text))!

/**
 * Runs a script in a folder with the data folder of the appliance, like a checkout in which
 * `make run` was called.
 */
async function runInCheckout(script: string): Promise<string> {
  const folder = createTemporaryFolder()
  symlinkSync(appliance.data, join(folder, '.eyrie'))
  const text = script
    .replaceAll('http://localhost:8080', appliance.consoleUrl)
    .replaceAll('localhost:8100', new URL(appliance.engineUrl).host)
    .replaceAll('10.0.0.12', '127.0.0.1')
    // The ball would soon cross the line, after which the alert "Nobody at the door" is not sent.
    .replaceAll('test://ball', 'test://smpte')
  // A script that waits in vain must not outlive its test.
  const options = { cwd: folder, timeout: SCRIPT_TIMEOUT_MS, killSignal: 'SIGKILL' } as const
  try {
    // Bash takes its input, a socket, for that of a remote user, and would read ~/.bashrc.
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', text], options)
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    const printed = [stdout.slice(-MAX_QUOTED_LENGTH), stderr.slice(-MAX_QUOTED_LENGTH)]
    throw new Error(['the script has failed', ...printed, ...appliance.lines].join('\n'), {
      cause: error,
    })
  }
}

it('the calls of the guides of management, users, alerts, notifications and engines work in the order of the guides', {
  ...needs(installedProgram('curl'), installedProgram('jq')),
  timeout: SCRIPT_TIMEOUT_MS + 60_000,
}, async () => {
  const management = readShellBlocks('docs/guide/management.md')
  const ticket = management.findIndex(block => block.includes('media/ticket'))
  const output = await runInCheckout(
    [
      ...management.slice(0, ticket),
      'until get "channel/id?channel_id=$CHANNEL" | jq -e .response.is_verified; do sleep 0.3; done',
      ...management.slice(ticket),
      'if create site "{}" 2> error; then exit 1; fi; cat error',
      findBlock('docs/guide/users.md', 'user/register'),
      'get user/list | jq -c ".response[] | {email, role_key, is_verified, site_ids}"',
      findBlock('docs/guide/alerts.md', 'create alert'),
      'RANGE="notification/range?usecase=line-crossing&channel_id=$CHANNEL&start=-1d&end=now"',
      'until get "$RANGE" | jq -e ".response.notifications[0]"; do sleep 0.3; done',
      ...readShellBlocks('docs/guide/alerts.md').slice(1),
      findBlock('docs/guide/notifications.md', 'delivery/test'),
      findBlock('docs/guide/notifications.md', 'delivery/list').replace('&delivery_state=dead', ''),
      findBlock('docs/guide/engine-only.md', 'create engine'),
    ].join('\n'),
  )
  expect(output).not.toMatch(/"response_code":[45]/)
  expect(output).toMatch(/"channel_stats":\{"up":\d+,"down":\d+,"ids":/)
  expect(output).toContain(`"whep": "${appliance.consoleUrl}/media/`)
  expect(output).toMatch(/^eyrie_pat_/m)
  expect(output).toMatch(
    /^no site was created: organization_id: is required; .*site_name: is required/m,
  )
  expect(output).toMatch(
    /^\{"email":"ada@example.com","role_key":"viewer","is_verified":true,"site_ids":\["[\w-]+"\]\}$/m,
  )
  expect(output).toContain('"subject": "Nobody at the door on Door"')
  expect(output).toMatch(/^location: \/api\/v1\/delivery\/id\?delivery_id=/im)
  expect(output).toContain('"delivery_to": "guard@example.com"')
})

it('the call of the engine in the readme works', {
  ...needs(installedProgram('curl')),
  timeout: 60_000,
}, async () => {
  const output = await runInCheckout(findBlock('README.md', 'api/v3/exports'))
  expect(JSON.parse(output)).toMatchObject({
    channels: expect.any(Array),
    streams: expect.any(Array),
  })
})
