/** Postgres keeps every character but NUL, and what is one. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
