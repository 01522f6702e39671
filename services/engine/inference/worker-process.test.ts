import { expect, it, onTestFinished } from 'vitest'
import { startWorker } from './worker-process.ts'

const nothing = { type: 'run', model: 0, ring: { path: '', generation: 0 }, n: 1 } as const
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

it('a worker that hangs is ended, and its model is to blame', async () => {
  const worker = await startWorker(3000)
  onTestFinished(worker.stop)
  process.kill(worker.pid, 'SIGSTOP')
  const hung = { name: 'WorkerDied', isCrash: true, message: 'no answer within 3 s' }
  await expect(worker.ask({ ...nothing, thresholds })).rejects.toMatchObject(hung)
  expect(await worker.died).toMatchObject(hung)
})

it('a worker that is killed from outside blames nobody, and nothing more is asked of it', async () => {
  const worker = await startWorker(10_000)
  process.kill(worker.pid, 'SIGKILL')
  const killed = { name: 'WorkerDied', isCrash: false, message: 'SIGKILL' }
  expect(await worker.died).toMatchObject(killed)
  await expect(worker.ask({ ...nothing, thresholds })).rejects.toMatchObject(killed)
})

it('a worker leaves a Ctrl-C at the terminal to the engine', async () => {
  const worker = await startWorker(10_000)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(worker.pid, signal)
  await expect(
    worker.ask({ ...nothing, ring: { path: '/dev/null', generation: 0 }, thresholds }),
  ).rejects.toThrow('/dev/null is no frame ring')
  await worker.stop()
})
