interface Vehicle {
  lastRead: number
  votes: Map<string, number>
  /** What was reported; the vehicle is not read again. */
  plate: string | undefined
}

/** Number of vehicles whose readings are kept. Beyond it, the one last seen first is deleted. */
const MAX_VEHICLES = 1000

/**
 * The readings of each tracked vehicle. They are kept while the vehicle is hidden, because a
 * tracker may find it again at any time. Times are in seconds.
 */
export class PlateVotes {
  /** In the order in which they were last seen. */
  readonly #vehicles = new Map<number, Vehicle>()

  /** Whether a vehicle is to be read now. */
  isDue(track: number, now: number, intervalS: number): boolean {
    const vehicle = this.#vehicles.get(track)
    return !vehicle || (vehicle.plate === undefined && now - vehicle.lastRead >= intervalS)
  }

  /** Adds a reading. Returns whether so many readings are equal for the first time. */
  add(track: number, now: number, plate: string | undefined, needed: number): boolean {
    const vehicle = this.#vehicles.get(track) ?? {
      lastRead: now,
      votes: new Map(),
      plate: undefined,
    }
    this.#moveToEnd(track, vehicle)
    vehicle.lastRead = now
    if (plate === undefined) return false
    const votes = (vehicle.votes.get(plate) ?? 0) + 1
    vehicle.votes.set(plate, votes)
    if (votes < needed) return false
    vehicle.plate = plate
    return true
  }

  find(track: number): string | undefined {
    return this.#vehicles.get(track)?.plate
  }

  /** Keeps the readings of a vehicle, because it is visible. */
  keep(track: number): void {
    const vehicle = this.#vehicles.get(track)
    if (vehicle) this.#moveToEnd(track, vehicle)
  }

  #moveToEnd(track: number, vehicle: Vehicle): void {
    this.#vehicles.delete(track)
    this.#vehicles.set(track, vehicle)
    const [first] = this.#vehicles.keys()
    if (this.#vehicles.size > MAX_VEHICLES) this.#vehicles.delete(first!)
  }
}
