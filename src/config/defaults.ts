// Names that stand where none is said, and that more than the schema knows.

/** The group and the account of a key that names none. */
export const defaultGroup = 'default'
export const defaultAccount = 'default'

/** In the working folder, wherever the file lies. */
export const defaultData = './data'
