import { createLog } from '@eyrie/kit'
import { addModel, openModelStore, openQuarantine } from '@eyrie/model-store'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createBrightCellDetector } from '../../../test/fixtures/engine/detector-models.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { ModelRegistry } from './model-registry.ts'
import { Scheduler } from './scheduler.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

it('model registry loads a model on all running workers after another one has exited', {
  timeout: 60_000,
}, async () => {
  const log = createLog('test', 'silent')
  const root = createTemporaryFolder()
  const facts = { head: 'yolox', labels: ['bright'], license: 'MIT' } as const
  const model = createBrightCellDetector({ width: 64, height: 64 })
  await addModel(root, { name: 'bright', ...facts, labels: ['bright'], model })
  const models = await openModelStore({ roots: [root], log })
  onTestFinished(models.close)

  const scheduler = new Scheduler<WorkerProcess>()
  const workers = await Promise.all(
    [1, 2, 3].map(() => startWorker({ timeoutMs: 30_000, folders: [root], log })),
  )
  for (const worker of workers) {
    onTestFinished(worker.stop)
    scheduler.addWorker(worker)
  }
  const quarantine = openQuarantine(root)
  const registry = new ModelRegistry({ workers: () => workers, scheduler, quarantine, log })
  // The second worker is the first one to load a model.
  const [killed, first, last] = workers as [WorkerProcess, WorkerProcess, WorkerProcess]
  process.kill(killed.pid, 'SIGKILL')
  await killed.exited
  const lease = await registry.acquire(models.get('bright')!, 'cpu')
  expect(lease.isLoadedOn(first)).toBe(true)
  await vi.waitUntil(() => lease.isLoadedOn(last), { timeout: 60_000 })
})
