import { run } from '@eyrie/kit'
import { createEngine } from './engine.ts'

// Entry point of the engine, the service that runs the analysis pipelines on video sources.
await run('engine', createEngine)
