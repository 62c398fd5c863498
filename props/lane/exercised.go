package lane

// NotExercised begins the complaint of a property that found no violation, but whose
// programs met the premise of its guarantee too seldom. Such a test fails, because it
// has shown nothing; it reports no defect of the product.
const NotExercised = "not exercised: "
