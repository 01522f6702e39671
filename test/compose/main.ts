import { type Drive, drive } from './drive.ts'
import { useExternalDatabase } from './external-database.ts'
import { measureFrames } from './frame-path.ts'
import { fullDisk } from './full-disk.ts'
import { runSeveralEngines } from './several-engines.ts'
import { createStack } from './stack.ts'
import { serveTls } from './tls.ts'

// Drives the appliance in containers through its published ports: make test-compose. Two tags of
// the images must exist:
//   node test/compose/main.ts <tag> <other tag>

const [version = 'test-1', other = 'test-2'] = process.argv.slice(2)

/** Runs a step, and prints how long it took. */
async function step(title: string, run: () => Promise<string>): Promise<void> {
  const started = performance.now()
  process.stdout.write(`${title} … `)
  const result = await run()
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`${seconds} s: ${result}\n`)
}

const stack = await createStack({ version })
let passed = false
try {
  const steps: Drive = drive(stack, other)
  await step('docker compose up, to the first count', steps.start)
  await step('the boundaries of the processes', steps.checkIsolation)
  await step('memory of the stack', steps.measureMemory)
  await step('a live view by WebRTC', steps.watch)
  await step('a camera, a picture, a count, an e-mail', steps.camera)
  await step('counts and a notification by MQTT', steps.publish)
  await step('a backup in an S3-compatible storage', steps.storeBackup)
  for (const service of ['media', 'engine', 'management', 'scheduler', 'database']) {
    await step(`killing ${service}`, () => steps.kill(service))
  }
  await step('restarting Postgres', steps.restartDatabase)
  await step('the command line and a bundle for support', steps.support)
  await step(`upgrade to ${other}`, () => steps.changeVersion(other))
  await step(`downgrade to ${version}`, () => steps.changeVersion(version))
  await step('backup, and restore to an empty installation', steps.backup)
  await step('frame path in a container and outside', () => measureFrames(stack, version))
  await step('a certificate from files', () => serveTls(version))
  await step('an external Postgres', () => useExternalDatabase(version))
  await step('a full disk', () => fullDisk(version))
  await step('three engines, one of which is stopped', () => runSeveralEngines(version))
  passed = true
} catch (error) {
  process.stdout.write(`failed\n${(error as Error).stack}\n`)
  process.stdout.write(await stack.compose('logs', '--no-color', '--tail', '60').catch(String))
} finally {
  await stack.remove()
}
process.exit(passed ? 0 : 1)
