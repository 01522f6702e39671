import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startWorker } from './worker-process.ts'

const nothing = { type: 'run', model: 0, ring: { path: '', generation: 0 }, n: 1 } as const
const options = { folders: [], log: createLog('test', 'silent') }
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

describe('worker process', () => {
  it('is killed when it hangs, which counts as a crash of its model', async () => {
    const worker = await startWorker({ ...options, timeoutMs: 3000 })
    onTestFinished(worker.stop)
    process.kill(worker.pid, 'SIGSTOP')
    const hung = { name: 'WorkerExitError', isCrash: true, message: 'no answer within 3 s' }
    await expect(worker.request({ ...nothing, thresholds })).rejects.toMatchObject(hung)
    expect(await worker.exited).toMatchObject(hung)
  })

  it('rejects requests after it was killed from outside, which does not count as a crash', async () => {
    const worker = await startWorker({ ...options, timeoutMs: 10_000 })
    process.kill(worker.pid, 'SIGKILL')
    const killed = { name: 'WorkerExitError', isCrash: false, message: 'SIGKILL' }
    expect(await worker.exited).toMatchObject(killed)
    await expect(worker.request({ ...nothing, thresholds })).rejects.toMatchObject(killed)
  })

  it('ignores Ctrl-C at the terminal, which the engine handles', async () => {
    const worker = await startWorker({ ...options, timeoutMs: 10_000 })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(worker.pid, signal)
    await expect(
      worker.request({ ...nothing, ring: { path: '/dev/null', generation: 0 }, thresholds }),
    ).rejects.toThrow('/dev/null is not a frame ring')
    await worker.stop()
  })
})
