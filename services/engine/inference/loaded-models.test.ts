import { createLog } from '@eyrie/kit'
import { addModel, openModelStore, openQuarantine } from '@eyrie/model-store'
import { expect, it, onTestFinished, vi } from 'vitest'
import { brightCells } from '../../../test/fixtures/detectors.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { createLoadedModels } from './loaded-models.ts'
import { createScheduler } from './scheduler.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

it('a model comes to the workers that are there, though one before them dies', {
  timeout: 60_000,
}, async () => {
  const log = createLog('test', 'silent')
  const root = temporaryFolder()
  const facts = { head: 'yolox', labels: ['bright'], license: 'MIT' } as const
  const model = brightCells({ width: 64, height: 64 })
  await addModel(root, { name: 'bright', ...facts, labels: ['bright'], model })
  const models = await openModelStore({ roots: [root], log })
  onTestFinished(models.close)

  const scheduler = createScheduler<WorkerProcess>()
  const workers = await Promise.all([1, 2, 3].map(() => startWorker(30_000)))
  for (const worker of workers) {
    onTestFinished(worker.stop)
    scheduler.add(worker)
  }
  const quarantine = openQuarantine(root)
  const loaded = createLoadedModels({ workers: () => workers, scheduler, quarantine, log })
  // The first to get a model is the second worker.
  const [dead, first, last] = workers as [WorkerProcess, WorkerProcess, WorkerProcess]
  process.kill(dead.pid, 'SIGKILL')
  await dead.died
  const hold = await loaded.hold(models.get('bright')!, 'cpu')
  expect(hold.isReadyOn(first)).toBe(true)
  await vi.waitUntil(() => hold.isReadyOn(last), { timeout: 30_000 })
})
