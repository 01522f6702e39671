import { run } from '@eyrie/kit'
import { createScheduler } from './scheduler.ts'

await run('scheduler', createScheduler)
