import assert from 'node:assert/strict'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENCRYPTED_BACKUP_MAGIC } from '@eyrie/contract/backup'
import { z } from 'zod'
import { DEMO } from '../../scene/demo.ts'
import { addCamera, countCrossings, createSite, startCamera } from './cameras.ts'
import { type Console, signIn } from './console.ts'
import { playLiveView } from './live-view.ts'
import { type MailServer, startMailServer } from './peers/mail-server.ts'
import { type MqttBroker, startMqttBroker } from './peers/mqtt-broker.ts'
import { startS3Storage } from './peers/s3-storage.ts'
import type { Stack } from './stack.ts'
import { waitUntil } from './wait-until.ts'

const SERVICES = ['database', 'media', 'engine', 'management', 'scheduler']
const PORTS: Record<string, number> = {
  media: 8200,
  engine: 8100,
  management: 8080,
  scheduler: 8300,
}
const MIB = 1 << 20
const MAX_MEMORY_MIB = 1228
const RECEIVER = 'guard@example.com'

/** The steps in their order. Each relies on the previous ones. */
export interface Drive {
  start(): Promise<string>
  checkIsolation(): Promise<string>
  measureMemory(): Promise<string>
  watch(): Promise<string>
  camera(): Promise<string>
  publish(): Promise<string>
  storeBackup(): Promise<string>
  kill(service: string): Promise<string>
  restartDatabase(): Promise<string>
  support(): Promise<string>
  changeVersion(version: string): Promise<string>
  backup(): Promise<string>
}

export function drive(stack: Stack, other: string): Drive {
  let console: Console
  let mailServer: MailServer
  let broker: MqttBroker
  let channel = ''
  let device = ''

  /** Waits until all services are healthy and a channel analyses. */
  async function waitUntilRunning(): Promise<void> {
    await waitUntil('healthy stack', async () => {
      const running = await stack.listRunning()
      for (const name of SERVICES) {
        const found = running.find(({ service }) => service === name)
        assert.equal(found?.health, 'healthy', `${name} is ${found?.health ?? 'not running'}`)
      }
    })
    console = await signIn(stack)
    await waitUntil('analysed frames', async () => {
      const channels = await console.listChannels()
      assert(
        channels.some(({ fps }) => fps > 0),
        JSON.stringify(channels),
      )
    })
  }

  const readHealth = async (service: string) => {
    const request = 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n'
    const script = `exec 3<>/dev/tcp/127.0.0.1/${PORTS[service]}; printf '${request}' >&3; cat <&3`
    const text = await stack.compose('exec', '-T', service, 'bash', '-c', script)
    return health.parse(JSON.parse(text.slice(text.indexOf('{'))))
  }

  return {
    async start() {
      await stack.docker('volume', 'ls')
      const started = performance.now()
      await stack.compose('up', '--detach', '--no-build')
      console = await signIn(stack)
      await console.waitForOutput('count')
      return `the first count after ${((performance.now() - started) / 1000).toFixed(1)} s`
    },

    async checkIsolation() {
      const levels: string[] = []
      for (const service of ['media', 'engine']) {
        const { isolation, separation } = await readHealth(service)
        assert.equal(separation?.level, 'full')
        assert.equal(isolation?.level, 'full', `${service}: ${isolation?.missing}`)
        levels.push(`${service} ${isolation.level}`)
      }
      for (const service of SERVICES) {
        const printed = await stack.compose(
          ...['exec', '-T', service, 'bash', '-c'],
          'id -u; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; touch /x 2>&1 || true',
        )
        assert.doesNotMatch(printed, /^0$/m, `${service} runs as root`)
        assert.match(printed, /CapEff:\s+0+$/m)
        assert.match(printed, /NoNewPrivs:\s+1$/m)
        assert.match(printed, /Seccomp:\s+2$/m)
        assert.match(printed, /Read-only file system/)
      }
      return levels.join(', ')
    },

    async measureMemory() {
      const ids = (await stack.compose('ps', '--quiet')).trim().split('\n')
      const format = '{{.Name}} {{.MemUsage}}'
      const printed = await stack.docker('stats', '--no-stream', '--format', format, ...ids)
      const sizes = printed.trim().split('\n').map(parseUsage)
      // The rendering of the demo scene ends after some minutes.
      const services = sizes.filter(({ name }) => SERVICES.includes(name))
      const total = services.reduce((sum, { mebibytes }) => sum + mebibytes, 0)
      assert(total < MAX_MEMORY_MIB, `the stack needs ${total} MiB`)
      const parts = sizes.map(({ name, mebibytes }) => `${name} ${Math.round(mebibytes)}`)
      return `${Math.round(total)} MiB with one channel (${parts.join(', ')})`
    },

    watch: () => playLiveView(stack, console),

    async camera() {
      mailServer = await startMailServer(stack)
      broker = await startMqttBroker(stack)
      await console.post('config/smtp/update', { ...mailServer.settings, smtp_to: RECEIVER })
      await console.post('config/mqtt/update', broker.settings)
      await startCamera(stack, {
        mount: `type=volume,source=${stack.project}_data,target=/videos,volume-subpath=media,readonly`,
        video: `/videos/scene-${DEMO.seed}.mp4`,
      })
      const siteId = await createSite(console)
      const engineId = await waitUntil('registered engine', async () => {
        const { response } = await console.get('engine/list?site_ids=')
        const local = engines.parse(response).find(({ engine_name }) => engine_name === 'local')
        assert(local, 'the local engine is not registered')
        await console.post('engine/update', { ...local, site_ids: [siteId] })
        return local.engine_id
      })
      const added = await addCamera(console, {
        site_id: siteId,
        engine_id: engineId,
        name: 'Entrance',
      })
      device = added.device_id
      channel = added.channel_id
      await console.create('alert', {
        ...{
          alert_name: 'Crossing',
          alert_priority: 'high',
          channel_id: channel,
          alert_frequency: 5,
        },
        ...{ alert_threshold_key: 'total', alert_threshold_condition: 'gte', alert_threshold: '1' },
        alert_actions: [{ action_type: 'email', action_to: RECEIVER }],
      })
      const { stream } = await waitUntil('channel of the camera', async () => {
        const found = (await console.listChannels()).at(-1)
        assert(found?.stream && found.fps > 0)
        return found
      })
      const picture = await waitUntil('picture', async () => {
        const response = await console.fetchSnapshot(Number(stream))
        assert.equal(response.status, 200)
        return Buffer.from(await response.arrayBuffer())
      })
      assert.equal(picture.toString('hex', 0, 2), 'ffd8')
      await waitUntil('count', async () => assert((await countCrossings(console, channel)) > 0))
      await waitUntil('e-mail', async () => {
        const mail = mailServer.accepted.find(({ subject }) => subject.includes('Crossing'))
        assert.deepEqual(mail?.to, [RECEIVER])
      })
      return `a picture of ${picture.length} bytes`
    },

    async publish() {
      const topic = (name: string) => `eyrie/test/${name}`
      const readJson = (name: string) => JSON.parse(broker.newest.get(topic(name)) ?? '{}')
      await waitUntil('messages of the channel', async () => {
        const printed = JSON.stringify([...broker.newest.keys()])
        assert.equal(broker.newest.get(topic('status')), 'online', printed)
        assert(readJson(`channel/${channel}/counts`).total > 0, printed)
        assert.equal(readJson(`channel/${channel}/notification`).channel_name, 'Entrance', printed)
      })
      return `${broker.newest.size} topics`
    },

    async storeBackup() {
      const storage = await startS3Storage(stack)
      const backupPassphrase = 'correct horse battery'
      await console.post('config/backup/update', {
        ...storage.settings,
        backup_passphrase: backupPassphrase,
      })
      const printed = await stack.compose('run', '--rm', '-T', 'cli', 'backup', 'store')
      const [, name] = /stored (eyrie-\w+\.backup) with/.exec(printed) ?? []
      const start = ENCRYPTED_BACKUP_MAGIC
      assert.deepEqual(await storage.listObjects(start.length), [{ key: name, start }])
      return printed.trim()
    },

    async kill(service) {
      const before = await stack.docker(
        'inspect',
        '-f',
        '{{.RestartCount}}',
        await stack.findContainer(service),
      )
      // Docker restarts no container that `docker kill` has ended. The process below init
      // ends like in a crash.
      await stack
        .compose('exec', '-T', service, 'bash', '-c', 'kill -9 $(cat /proc/1/task/1/children)')
        .catch(() => {})
      await waitUntil('restart', async () => {
        const after = await stack.docker(
          'inspect',
          '-f',
          '{{.RestartCount}}',
          await stack.findContainer(service),
        )
        assert(Number(after) > Number(before), `${service} was not restarted`)
      })
      await waitUntilRunning()
      return 'restarted, and frames are analysed'
    },

    async restartDatabase() {
      await stack.compose('restart', 'database')
      await waitUntilRunning()
      assert((await countCrossings(console, channel)) > 0)
      return 'counts are kept'
    },

    async support() {
      const status = await stack.compose('run', '--rm', '-T', 'cli', 'status')
      assert.match(status, /PIPELINE +STATUS/)
      assert.doesNotMatch(status, /unreachable|down/)
      await stack.compose(
        'run',
        '--rm',
        '-T',
        'cli',
        'support',
        '--output',
        '/backups/support.tar.gz',
      )
      const bundle = join(stack.folder, 'backups/support.tar.gz')
      assert(existsSync(bundle))
      const logs = await stack.compose('logs', '--no-color', 'engine')
      assert.match(logs, /\d\d:\d\d:\d\d engine .* listening/)
      return `${statSync(bundle).size} bytes`
    },

    async changeVersion(version) {
      stack.variables.EYRIE_VERSION = version
      await stack.compose('up', '--detach', '--no-build')
      await waitUntilRunning()
      const image = await stack.docker(
        'inspect',
        '-f',
        '{{.Config.Image}}',
        await stack.findContainer('engine'),
      )
      assert.equal(image.trim(), `eyrie/engine:${version}`)
      assert((await countCrossings(console, channel)) > 0, 'the counts are lost')
      const { response } = await console.get(`device/id?device_id=${device}`)
      assert.equal(response.device_name, 'Entrance')
      return version === other ? 'counts and devices are kept' : 'and again'
    },

    async backup() {
      writeFileSync(join(stack.folder, 'backups/passphrase'), 'correct horse\n')
      const file = ['/backups/all.backup', '--passphrase-file', '/backups/passphrase']
      const written = await stack.compose('run', '--rm', '-T', 'cli', 'backup', ...file)
      await stack.removePeers()
      await stack.compose('down', '--volumes')
      await stack.compose('up', '--detach', '--no-build', '--wait', 'database')
      await stack.compose('run', '--rm', '-T', 'cli', 'restore', ...file, '--force')
      await stack.compose('up', '--detach', '--no-build')
      await waitUntilRunning()
      const { response } = await console.get(`device/id?device_id=${device}`)
      assert.equal(response.device_name, 'Entrance')
      return written.trim()
    },
  }
}

const isolation = z.object({ level: z.string(), missing: z.array(z.string()) }).optional()
const health = z.looseObject({ isolation, separation: isolation })
const engines = z.array(z.looseObject({ engine_name: z.string(), engine_id: z.string() }))

const UNITS: Record<string, number> = { KiB: 1 / 1024, MiB: 1, GiB: 1024, B: 1 / MIB }

function parseUsage(line: string): { name: string; mebibytes: number } {
  const [, name = '', size = '0', unit = 'MiB'] = /^\S*?-?(\w+)-1 ([\d.]+)(\w+)/.exec(line) ?? []
  return { name, mebibytes: Number(size) * (UNITS[unit] ?? 0) }
}
