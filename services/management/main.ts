import { run } from '@eyrie/kit'
import { createManagement } from './management.ts'

await run('management', createManagement)
