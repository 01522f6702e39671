import { defineElement, definePlugin, type Point, point, z } from '@eyrie/element'

/** An object that is not detected for this long has left the zone. */
const GRACE_S = 2

const zone = z.strictObject({ name: z.string().min(1), coords: z.array(point).min(3) })

/** The stay of a tracked object in a zone, in seconds of stream time. */
interface Stay {
  since: number
  lastSeen: number
  isReported: boolean
}

/** Reports each object once that stays in a zone for longer than a time. */
const dwellAlarm = defineElement({
  args: z.strictObject({
    seconds: z.number().positive().default(30).meta({ description: 'Time after which a stay is reported' }),
    class: z.string().optional().meta({ description: 'Class of the objects; all by default' }),
  }),
  config: z.strictObject({ zones: z.array(zone).meta({ description: 'Polygons in 0..1 of the picture' }) }),
  events: {
    'dwell-alarm': z.object({ dwell_seconds: z.number() }),
  },

  open({ args, config = { zones: [] }, clock }) {
    const zones = config.zones.map(zone => ({ ...zone, stays: new Map<number, Stay>(), alarms: 0 }))
    return {
      // The live view draws zones that an element has in its metadata.
      metadata: { zones: config.zones },

      process({ objects, discontinuity }) {
        const now = clock.seconds
        const candidates = objects.filter(object => args.class === undefined || object.class === args.class)
        const events = zones.flatMap(zone => {
          if (discontinuity) zone.stays.clear()
          for (const [track, { lastSeen }] of zone.stays)
            if (now - lastSeen > GRACE_S) zone.stays.delete(track)

          return candidates.flatMap(({ track, class: label, bbox }) => {
            const foot = { x: bbox.x + bbox.w / 2, y: bbox.y + bbox.h }
            if (track === undefined || !isInside(foot, zone.coords)) return []
            const stay = zone.stays.get(track) ?? { since: now, lastSeen: now, isReported: false }
            stay.lastSeen = now
            zone.stays.set(track, stay)
            const dwell_seconds = now - stay.since
            if (stay.isReported || dwell_seconds <= args.seconds) return []
            stay.isReported = true
            zone.alarms += 1
            return [
              { type: 'dwell-alarm', name: zone.name, track, class: label, bbox, dwell_seconds } as const,
            ]
          })
        })
        const counters = zones.map(({ name, stays, alarms }) => [name, { inside: stays.size, alarms }])
        return { events, counters: Object.fromEntries(counters) }
      },
    }
  },
})

/** Whether a point is inside a polygon: whether a ray to the right crosses its sides an odd number of times. */
function isInside({ x, y }: Point, polygon: readonly Point[]): boolean {
  let isOdd = false
  let from = polygon.at(-1)!
  for (const to of polygon) {
    const crosses = from.y > y !== to.y > y
    if (crosses && x < from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)) isOdd = !isOdd
    from = to
  }
  return isOdd
}

export default definePlugin({ 'dwell-alarm': dwellAlarm })
