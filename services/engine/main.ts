import { run } from '@eyrie/kit'
import { createEngine } from './engine.ts'

await run('engine', createEngine)
