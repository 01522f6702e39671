interface Vehicle {
  lastRead: number
  lastSeen: number
  votes: Map<string, number>
  /** What was reported; the vehicle is not read again. */
  plate: string | undefined
}

/** The readings of each tracked vehicle. Times are in seconds. */
export class PlateVotes {
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
      lastSeen: now,
      votes: new Map(),
      plate: undefined,
    }
    this.#vehicles.set(track, vehicle)
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
  keep(track: number, now: number): void {
    const vehicle = this.#vehicles.get(track)
    if (vehicle) vehicle.lastSeen = now
  }

  /** Deletes the vehicles that were visible last before a time. */
  forget(before: number): void {
    for (const [track, { lastSeen }] of this.#vehicles) {
      if (lastSeen < before) this.#vehicles.delete(track)
    }
  }
}
