import { camera, openConfiguration } from '../../../test/fixtures/configuration.ts'

/** Creates sources without end and tells its parent the id of each that was answered. */
const { configuration } = await openConfiguration(process.argv[2]!)
for (;;) process.send!((await configuration.sources.create(camera())).value.id)
