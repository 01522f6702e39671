import { run } from '@eyrie/kit'
import { createMedia } from './media.ts'

await run('media', createMedia)
