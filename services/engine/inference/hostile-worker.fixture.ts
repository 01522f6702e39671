import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

/**
 * Runs in place of an inference worker, and attempts what the code of a hostile model
 * could do. Answers the first message, an `Attack`, with the outcome of each attempt:
 * `done` or an error code.
 */

/** What is attacked. */
export interface Attack {
  /** Path of a file of the engine that contains secrets. */
  secret: string
  /** Path of the model of the worker. */
  model: string
  /** Port of a server on this machine. */
  port: number
  /** Id of another process of the same user. */
  victim: number
}

function attempt(attack: () => unknown): string {
  try {
    attack()
    return 'done'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

const connectTo = (port: number) =>
  new Promise<string>(finish => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => finish('done'))
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message))
  })

process.once('message', async ({ secret, model, port, victim }: Attack) => {
  const program = spawnSync('/bin/true')
  process.send!({
    model: attempt(() => readFileSync(model)),
    'replaces the model': attempt(() => writeFileSync(model, '')),
    'reads secrets of the engine': attempt(() => readFileSync(secret)),
    'reads accounts': attempt(() => readFileSync('/etc/passwd')),
    'reads the environment of the engine': attempt(() =>
      readFileSync(`/proc/${process.ppid}/environ`),
    ),
    'lists its working directory': attempt(() => readdirSync('.')),
    'writes a file': attempt(() => writeFileSync('/tmp/eyrie-hostile-model', '')),
    'opens a connection': await connectTo(port),
    'kills a process': attempt(() => process.kill(victim, 'SIGKILL')),
    'starts a program': (program.error as NodeJS.ErrnoException | undefined)?.code ?? 'done',
    environment: Object.keys(process.env).sort().join(),
  })
})
process.once('disconnect', () => process.exit())
