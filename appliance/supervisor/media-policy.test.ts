import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Environment, readEnvironment } from '@eyrie/kit'
import { holdFolder } from '@eyrie/kit/held-folder'
import { toLaunchCommand } from '@eyrie/kit/launcher/launch'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import type { AttackedMachine } from './media-attempts.fixture.ts'
import { prepareMediaFolders } from './media-folders.ts'
import { createMediaPolicy } from './media-policy.ts'

const NOTHING = { variables: {}, writableFolders: [] }

const attempts = resolve(import.meta.dirname, 'media-attempts.fixture.ts')

/** Runs the attempts under the policy of media, and returns their results. */
async function runAttempts(
  environment: Environment,
  writableFolders: string[],
  machine: AttackedMachine,
) {
  const { read = [], ...policy } = createMediaPolicy(environment, {
    variables: {},
    writableFolders,
  })
  const [program, ...args] = toLaunchCommand(
    [process.execPath, attempts, JSON.stringify(machine)],
    // Media itself does not read the code of the supervisor, to which the attempts belong.
    { ...policy, read: [...read, attempts, resolve(import.meta.dirname, '../package.json')] },
    { inherit: 3, reportToProgram: true },
  )
  const child = spawn(program, args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout)) as Record<
    'needed' | 'attacks',
    Record<string, string>
  >
}

describe('policy of media', () => {
  it('permits what media needs, and nothing that an attacker in media could use', async () => {
    const data = createTemporaryFolder()
    for (const folder of ['secrets', 'engine', 'plugins']) mkdirSync(join(data, folder))
    for (const file of ['secrets/engine-token', 'engine/configuration.json', 'eyrie.json']) {
      writeFileSync(join(data, file), '{}')
    }
    const environment = readEnvironment({
      EYRIE_DATA: data,
      EYRIE_RING: join(createTemporaryFolder(), 'rings'),
    })
    const writableFolders = prepareMediaFolders(environment)
    onTestFinished(await holdFolder(environment.ring, 'test'))
    const video = join(data, 'media/video.mp4')
    writeFileSync(video, 'video')
    const victim = spawn('/bin/sleep', ['600'], { env: { SECRET: 'secret' } })
    onTestFinished(() => void victim.kill('SIGKILL'))
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }

    const { ring } = environment
    const machine = { data, ring, video, home: homedir(), victim: victim.pid!, port }
    const { needed, attacks } = await runAttempts(environment, writableFolders, machine)
    expect(new Set(Object.values(needed)), JSON.stringify(needed)).toEqual(new Set(['allowed']))
    for (const [attack, result] of Object.entries(attacks)) {
      expect(result, attack).toMatch(/^E(ACCES|PERM)$/)
    }
  })

  it('grants the devices for video, and the devices of an NVIDIA driver that decoders use', () => {
    const devices = createTemporaryFolder()
    const granted = ['nvidia-uvm', 'nvidia0', 'nvidiactl', 'video0']
    for (const name of [...granted, 'nvidia-caps', 'nvidia-modeset', 'nvidia-uvm-tools', 'sda']) {
      writeFileSync(join(devices, name), '')
    }
    const policy = createMediaPolicy(readEnvironment({}), { ...NOTHING, deviceFolder: devices })
    expect(policy.devices!.toSorted()).toEqual(granted.map(name => join(devices, name)))
    expect(policy.threadNames).toBe(true)
  })

  it('allows the names of threads only on a machine with an NVIDIA driver', () => {
    const policy = createMediaPolicy(readEnvironment({}), {
      ...NOTHING,
      deviceFolder: createTemporaryFolder(),
    })
    expect(policy).toMatchObject({ devices: [], threadNames: false })
  })

  it('does not grant the data folder below a folder with videos', () => {
    const folder = createTemporaryFolder()
    const data = join(folder, 'eyrie/data')
    mkdirSync(join(data, 'secrets'), { recursive: true })
    for (const file of ['clip.mp4', 'eyrie/readme.md']) writeFileSync(join(folder, file), '')
    symlinkSync(folder, join(folder, 'eyrie/link'))
    const environment = readEnvironment({ EYRIE_DATA: data, EYRIE_MEDIA_ROOTS: folder })
    const granted = createMediaPolicy(environment, NOTHING).read!.filter(path =>
      path.startsWith(folder),
    )
    expect(granted.toSorted()).toEqual([
      join(folder, 'clip.mp4'),
      join(data, 'eyrie.json'),
      join(folder, 'eyrie/readme.md'),
    ])
  })
})
