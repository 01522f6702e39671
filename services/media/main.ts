import { run } from '@eyrie/kit'
import { createMedia } from './media.ts'

// Entry point of the media service, which runs as a process of its own.
await run('media', createMedia)
