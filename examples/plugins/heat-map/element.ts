import { defineElement, definePlugin, z } from '@eyrie/element'
import { createGrid, drawGrid, findBusiest, parseGrid } from './grid.ts'

const GRID_FILE = 'grid.json'
const PICTURE_FILE = 'heat-map.svg'
/**
 * Of a longer pause between two frames, only this much counts, because it is unknown
 * where the objects were.
 */
const MAX_PAUSE_S = 1

/**
 * Measures for how long objects are at each place of the picture. The times survive
 * restarts of the engine.
 */
const heatMap = defineElement({
  args: z.strictObject({
    class: z.string().default('person').meta({ description: 'Class of the objects' }),
    save_s: z
      .number()
      .min(10)
      .default(60)
      .meta({ description: 'Seconds after which the heat map is saved again' }),
  }),

  async open({ args, storage, clock, log }) {
    if (!storage) throw new Error('this element stores files: install it with eyrie plugin add')
    const grid = parseGrid(await storage.read(GRID_FILE)) ?? createGrid()
    let lastFrame: number | undefined
    let lastSaved: number | undefined

    async function save(): Promise<void> {
      await storage!.write(GRID_FILE, JSON.stringify(grid))
      await storage!.write(PICTURE_FILE, drawGrid(grid))
    }

    return {
      async process({ objects }) {
        const now = clock.seconds
        const elapsed = Math.min(now - (lastFrame ?? now), MAX_PAUSE_S)
        lastFrame = now
        for (const { class: label, bbox } of objects) {
          if (label === args.class) grid.add(bbox.x + bbox.w / 2, bbox.y + bbox.h, elapsed)
        }

        lastSaved ??= now
        if (now - lastSaved >= args.save_s) {
          lastSaved = now
          // The times are still in memory, and are saved the next time.
          await save().catch(error =>
            log.warn({ reason: error.message }, 'failed to save heat map'),
          )
        }
        const { column, row, share } = findBusiest(grid)
        return { counters: { 'busiest place': { column, row, percent: Math.round(100 * share) } } }
      },
    }
  },
})

export default definePlugin({ 'heat-map': heatMap })
