import { randomInt } from 'node:crypto'
import { soakDeliveries } from './deliveries.ts'
import { soakKills } from './kills.ts'
import { soakMemory } from './memory.ts'

/**
 * Searches for defects that only show after a while: node test/soak/main.ts
 * [minutes] [kills] [seed].
 */
const [minutes = 10, kills = 200, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number)
if (!(minutes > 0 && kills > 0 && Number.isInteger(seed))) {
  console.error(
    `minutes and kills must be positive and the seed an integer, not ${process.argv.slice(2).join(' ')}`,
  )
  process.exit(2)
}

const havePassed = [
  await soakKills(kills, seed),
  await soakDeliveries(minutes, seed),
  await soakMemory(minutes),
]
process.exit(havePassed.every(Boolean) ? 0 : 1)
