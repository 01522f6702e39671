import { randomInt } from 'node:crypto'
import { soakKills } from './kills.ts'
import { soakMemory } from './memory.ts'

/** What only shows after a while: node test/soak/main.ts [minutes] [kills] [seed]. */
const [minutes = 10, kills = 200, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number)

const sound = [await soakKills(kills, seed), await soakMemory(minutes)]
process.exit(sound.every(Boolean) ? 0 : 1)
