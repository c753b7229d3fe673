import type { Product } from "./types.ts";

/** The products on sale, by category. Prices are net. */
const products: readonly Product[] = [
	{ sku: "T101", title: "Claw hammer", category: "tools", priceCents: 1_890, weightGrams: 620 },
	{ sku: "T108", title: "Ball-peen hammer", category: "tools", priceCents: 1_645, weightGrams: 540 },
	{ sku: "T115", title: "Tape measure 5 m", category: "tools", priceCents: 795, weightGrams: 210 },
	{ sku: "T122", title: "Spirit level 60 cm", category: "tools", priceCents: 2_499, weightGrams: 780 },
	{ sku: "T129", title: "Combination pliers", category: "tools", priceCents: 1_521, weightGrams: 330 },
	{ sku: "T136", title: "Side cutters", category: "tools", priceCents: 1_715, weightGrams: 260 },
	{ sku: "T143", title: "Adjustable wrench", category: "tools", priceCents: 2_298, weightGrams: 480 },
	{ sku: "T150", title: "Hex key set", category: "tools", priceCents: 1_345, weightGrams: 390 },
	{ sku: "T157", title: "Cordless driver", category: "tools", priceCents: 8_917, weightGrams: 1_640 },
	{ sku: "T164", title: "Chisel set", category: "tools", priceCents: 4_587, weightGrams: 1_150 },
	{ sku: "T171", title: "Hand saw", category: "tools", priceCents: 2_268, weightGrams: 690 },
	{ sku: "T178", title: "Mitre box", category: "tools", priceCents: 1_921, weightGrams: 1_450 },
	{ sku: "T185", title: "Utility knife", category: "tools", priceCents: 953, weightGrams: 160 },
	{ sku: "T192", title: "Wood rasp", category: "tools", priceCents: 1_324, weightGrams: 310 },
	{ sku: "G101", title: "Trowel", category: "garden", priceCents: 861, weightGrams: 240 },
	{ sku: "G108", title: "Hand fork", category: "garden", priceCents: 911, weightGrams: 250 },
	{ sku: "G115", title: "Pruning shears", category: "garden", priceCents: 3_277, weightGrams: 280 },
	{ sku: "G122", title: "Hedge shears", category: "garden", priceCents: 4_128, weightGrams: 1_120 },
	{ sku: "G129", title: "Watering can 10 l", category: "garden", priceCents: 1_937, weightGrams: 1_260 },
	{ sku: "G136", title: "Garden hose 20 m", category: "garden", priceCents: 3_495, weightGrams: 1_890 },
	{ sku: "G143", title: "Hose reel", category: "garden", priceCents: 2_967, weightGrams: 1_780 },
	{ sku: "G150", title: "Spray nozzle", category: "garden", priceCents: 1_254, weightGrams: 190 },
	{ sku: "G157", title: "Leaf rake", category: "garden", priceCents: 1_754, weightGrams: 870 },
	{ sku: "G164", title: "Spade", category: "garden", priceCents: 3_983, weightGrams: 1_880 },
	{ sku: "G171", title: "Planting line", category: "garden", priceCents: 774, weightGrams: 320 },
	{ sku: "G178", title: "Seed tray", category: "garden", priceCents: 487, weightGrams: 410 },
	{ sku: "G185", title: "Compost sieve", category: "garden", priceCents: 2_251, weightGrams: 1_340 },
	{ sku: "G192", title: "Garden gloves", category: "garden", priceCents: 1_107, weightGrams: 130 },
	{ sku: "K101", title: "Chef's knife", category: "kitchen", priceCents: 6_427, weightGrams: 260 },
	{ sku: "K108", title: "Paring knife", category: "kitchen", priceCents: 1_222, weightGrams: 90 },
	{ sku: "K115", title: "Bread knife", category: "kitchen", priceCents: 3_416, weightGrams: 220 },
	{ sku: "K122", title: "Cutting board", category: "kitchen", priceCents: 2_823, weightGrams: 1_310 },
	{ sku: "K129", title: "Mixing bowl", category: "kitchen", priceCents: 1_588, weightGrams: 640 },
	{ sku: "K136", title: "Balloon whisk", category: "kitchen", priceCents: 826, weightGrams: 150 },
	{ sku: "K143", title: "Cast-iron pan", category: "kitchen", priceCents: 4_991, weightGrams: 1_870 },
	{ sku: "K150", title: "Saucepan 2 l", category: "kitchen", priceCents: 3_448, weightGrams: 1_080 },
	{ sku: "K157", title: "Colander", category: "kitchen", priceCents: 1_763, weightGrams: 520 },
	{ sku: "K164", title: "Kitchen scale", category: "kitchen", priceCents: 2_739, weightGrams: 470 },
	{ sku: "K171", title: "Pepper mill", category: "kitchen", priceCents: 2_917, weightGrams: 380 },
	{ sku: "K178", title: "Box grater", category: "kitchen", priceCents: 1_603, weightGrams: 290 },
	{ sku: "K185", title: "Rolling pin", category: "kitchen", priceCents: 1_159, weightGrams: 430 },
	{ sku: "B101", title: "The Vegetable Year", category: "books", priceCents: 2_990, weightGrams: 720 },
	{ sku: "B108", title: "Sharpening by Hand", category: "books", priceCents: 1_890, weightGrams: 340 },
	{ sku: "B115", title: "Bread in Three Days", category: "books", priceCents: 2_389, weightGrams: 560 },
	{ sku: "B122", title: "Joints and Glue", category: "books", priceCents: 3_249, weightGrams: 810 },
	{ sku: "B129", title: "Pruning Fruit Trees", category: "books", priceCents: 1_795, weightGrams: 390 },
	{ sku: "B136", title: "A Small Workshop", category: "books", priceCents: 2_822, weightGrams: 640 },
	{ sku: "B143", title: "Soil and Water", category: "books", priceCents: 2_194, weightGrams: 450 },
	{ sku: "B150", title: "Preserving", category: "books", priceCents: 1_903, weightGrams: 410 },
	{ sku: "F101", title: "Olive oil 0.5 l", category: "food", priceCents: 1_149, weightGrams: 930 },
	{ sku: "F108", title: "Sea salt 500 g", category: "food", priceCents: 262, weightGrams: 520 },
	{ sku: "F115", title: "Black pepper 100 g", category: "food", priceCents: 448, weightGrams: 130 },
	{ sku: "F122", title: "Bread flour 1 kg", category: "food", priceCents: 319, weightGrams: 1_020 },
	{ sku: "F129", title: "Apple vinegar 0.75 l", category: "food", priceCents: 548, weightGrams: 1_240 },
	{ sku: "F136", title: "Dried beans 500 g", category: "food", priceCents: 371, weightGrams: 520 },
	{ sku: "F143", title: "Honey 350 g", category: "food", priceCents: 689, weightGrams: 610 },
];

const bySku = new Map(products.map((product) => [product.sku, product]));

export function findProduct(sku: string): Product {
	const product = bySku.get(sku);
	if (product === undefined) throw new RangeError(`no product ${sku}`);
	return product;
}

/** All products, for the replay script and the shop's search index. */
export function allProducts(): readonly Product[] {
	return products;
}
