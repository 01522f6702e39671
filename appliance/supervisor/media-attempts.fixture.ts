import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

// Tries what an attacker could try who runs code in media. The test starts it under media's policy,
// with an `AttackedMachine` as JSON in the argument. Prints the result of each attempt as JSON:
// `allowed`, or the error code.

/** The paths and processes to attack. */
export interface AttackedMachine {
  data: string
  ring: string
  video: string
  home: string
  /** A process of the same user, with a secret in its environment. */
  victim: number
  port: number
}

const { data, ring, video, home, victim, port }: AttackedMachine = JSON.parse(process.argv[2]!)

function attempt(action: () => unknown): string {
  try {
    action()
    return 'allowed'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Starts a program with its arguments. */
function start(program: string, ...args: string[]): void {
  const { error, status } = spawnSync(program, args, { stdio: 'ignore' })
  if (error) throw error
  if (status !== 0) throw new Error(`exit status ${status}`)
}

const connection = await new Promise<string>(resolve => {
  const socket = connect(port, '127.0.0.1')
  socket.once('connect', () => resolve('allowed')).once('error', error => resolve(String(error)))
  socket.once('connect', () => socket.destroy())
})

const results = {
  needed: {
    'open a connection': connection,
    'read a video': attempt(() => readFileSync(video)),
    'write a frame ring': attempt(() => writeFileSync(join(ring, 'source-1-1.ring'), '')),
    'write a recording': attempt(() => {
      mkdirSync(join(data, 'recordings/1'))
      writeFileSync(join(data, 'recordings/1/segment.mp4'), '')
    }),
    'write the registry of plugins': attempt(() =>
      writeFileSync(join(data, 'gstreamer/registry.bin'), ''),
    ),
    'read the certificates of authorities': attempt(() => readdirSync('/etc/ssl/certs')),
    'read its own threads': attempt(() => readdirSync('/proc/self/task')),
    'start itself': attempt(() => start(process.execPath, '--version')),
  },
  attacks: {
    'read a token': attempt(() => readFileSync(join(data, 'secrets/engine-token'))),
    'list the secrets': attempt(() => readdirSync(join(data, 'secrets'))),
    'list the data folder': attempt(() => readdirSync(data)),
    'read the configuration of the engine': attempt(() =>
      readFileSync(join(data, 'engine/configuration.json')),
    ),
    'replace a plugin': attempt(() => writeFileSync(join(data, 'plugins/motion.json'), '')),
    'change a video': attempt(() => writeFileSync(video, '')),
    'change the settings': attempt(() => writeFileSync(join(data, 'eyrie.json'), '{}')),
    'replace the code': attempt(() => writeFileSync(join(import.meta.dirname, 'attack.ts'), '')),
    'list the home folder': attempt(() => readdirSync(home)),
    'write to the home folder': attempt(() => writeFileSync(join(home, 'attack'), '')),
    'write a temporary file': attempt(() => writeFileSync('/tmp/eyrie-attack', '')),
    'list the rings of others': attempt(() => readdirSync('/dev/shm')),
    'read the accounts': attempt(() => readFileSync('/etc/passwd')),
    'start a shell': attempt(() => start('/bin/sh', '-c', 'true')),
    'start a program from its own folder': attempt(() => {
      writeFileSync(join(ring, 'attack'), '#!/bin/sh\n', { mode: 0o700 })
      start(join(ring, 'attack'))
    }),
    'stop another process': attempt(() => process.kill(victim, 'SIGTERM')),
    'read the environment of another process': attempt(() =>
      readFileSync(`/proc/${victim}/environ`),
    ),
    'read the memory of another process': attempt(() => readFileSync(`/proc/${victim}/mem`)),
    'open the descriptors of another process': attempt(() => readlinkSync(`/proc/${victim}/fd/0`)),
    'open a disk': attempt(() => readFileSync('/dev/loop0')),
  },
}
console.log(JSON.stringify(results))
